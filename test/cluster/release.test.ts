/** Installed as people install it: the retired chart's objects with another image, then this project's chart over them. */

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { type Manifest, render } from "../helm/render.ts";
import { selfSigned } from "../kit/certificates.ts";
import { get } from "../kit/client.ts";
import { containerObstacle } from "./container.ts";
import { eventually } from "./control-plane.ts";
import { deployment, ingress, World } from "./world.ts";

const world = new World();
const root = process.env.SLUICE_ROOT!;
const namespace = ["-n", "ingress-nginx"];
const controller = "deployment/ingress-nginx-controller";

const obstacle = containerObstacle();

beforeAll(async () => {
  if (obstacle !== undefined) return;
  await world.start();
  await world.mustKubectl(["label", "node", "node-1", "kubernetes.io/os=linux"]);
  await world.mustApply(...deployment("web", 2, "v1"));
}, 180_000);

beforeEach(({ skip }) => skip(obstacle !== undefined, obstacle));

afterAll(() => world.stop(), 60_000);

function manifests(file: string): Manifest[] {
  const text = readFileSync(resolve(root, "test/cluster/manifests", file), "utf8");
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

/** As Helm does it: the hooks of before, the objects, the hooks of after; each Job until it is complete. */
async function install(objects: readonly Manifest[]): Promise<void> {
  const hook = (one: Manifest) => one.metadata.annotations?.["helm.sh/hook"] ?? "";
  const job = async (when: string) => {
    for (const one of objects.filter((each) => each.kind === "Job" && hook(each).includes(when))) {
      await world.mustKubectl([...namespace, "delete", "job", one.metadata.name, "--ignore-not-found"]);
      await world.mustApply(one);
      await eventually(`the Job ${one.metadata.name} is complete`, async () => {
        const { status } = await world.get<{ readonly status: { readonly succeeded?: number } }>("job", "ingress-nginx", one.metadata.name);
        return status.succeeded === 1;
      });
    }
  };
  await world.mustApply(...objects.filter((one) => one.kind !== "Job" && hook(one) !== ""));
  await job("pre-install");
  await world.mustApply(...objects.filter((one) => one.kind !== "Job" && hook(one) === ""));
  await world.mustKubectl([...namespace, "rollout", "status", controller, "--timeout=60s"]);
  await job("post-install");
}

interface Pod {
  readonly metadata: { readonly name: string };
  readonly status: { readonly podIP: string };
}

async function controllerPod(): Promise<Pod> {
  const selector = "app.kubernetes.io/component=controller";
  const list = JSON.parse(await world.mustKubectl([...namespace, "get", "pods", "-l", selector, "-o", "json"])) as {
    readonly items: readonly Pod[];
  };
  expect(list.items).toHaveLength(1);
  return list.items[0]!;
}

async function serves(host: string): Promise<void> {
  await world.mustApply(ingress("web", host, "web"));
  await eventually(`${host} is served on port 80`, async () => (await get({ port: 80, host })).status === 200);
  const refused = await world.apply(ingress("second", host, "web"));
  expect(refused.err).toContain(`host "${host}" and path "/" is already defined in ingress default/web`);
  await eventually(
    "the status has the address of the Service",
    async () =>
      (await world.mustKubectl(["get", "ingress", "web", "-o", "jsonpath={.status.loadBalancer.ingress[0].ip}"])) === "203.0.113.50",
  );
  const { name } = (await controllerPod()).metadata;
  const lease = [...namespace, "get", "lease", "ingress-nginx-leader", "-o", "jsonpath={.spec.holderIdentity}"];
  await eventually("the pod holds the Lease", async () => (await world.mustKubectl(lease)) === name);
  await eventually("the Event of the Ingress is there", async () =>
    (await world.mustKubectl(["get", "events", "--field-selector=involvedObject.name=web,reason=Sync"])).includes("Scheduled for sync"),
  );
  expect(world.logOf(name)).not.toMatch(/forbidden|answered 403/i);
}

test("the retired chart's release runs this image: its Jobs, arguments, user, volumes, webhook, roles", async () => {
  await install([...manifests("retired-hooks.yaml").map(asHook), ...manifests("retired-release.yaml")]);
  const load = JSON.stringify({ status: { loadBalancer: { ingress: [{ ip: "203.0.113.50" }] } } });
  const patch = ["patch", "service", "ingress-nginx-controller", "--subresource=status", "--type=merge", "-p", load];
  await world.mustKubectl([...namespace, ...patch]);
  await serves("retired.test");
}, 120_000);

/** The chart marks the Jobs' account and roles as hooks too. */
function asHook(one: Manifest): Manifest {
  if (one.kind === "Job") return one;
  return { ...one, metadata: { ...one.metadata, annotations: { "helm.sh/hook": "pre-install,pre-upgrade,post-install,post-upgrade" } } };
}

interface Said {
  readonly code: number;
  /** Of stdout alone. */
  readonly out: string;
}

/** The plugin as kubectl runs it. */
function plugin(args: readonly string[], input = ""): Promise<Said> {
  const program = join(root, "dist/kubectl-ingress_nginx.mjs");
  return new Promise((done) => {
    const child = execFile(process.execPath, [program, `--kubeconfig=${world.plane.adminConfig}`, ...args], (error, out) => {
      done({ code: error === null ? 0 : Number(error.code), out });
    });
    child.stdin!.end(input);
  });
}

test("kubectl ingress-nginx finds the controller and runs dbg, commands, a shell and its log inside", async () => {
  const inside = async (...args: readonly string[]) => (await plugin([...namespace, ...args])).out;
  expect(await inside("backends", "--list")).toBe("default-web-80\nupstream-default-backend\n");
  expect(JSON.parse(await inside("backends", "--backend=default-web-80"))).toMatchObject({ name: "default-web-80", endpoints: [{}, {}] });
  expect(JSON.parse(await inside("backends"))).toHaveLength(2);
  expect(await inside("backends", "--list", "--deployment=other")).toBe("no pod of the deployment other was found\n");
  expect(await inside("certs", "--host=none.test")).toBe("No cert found for host none.test\n");
  const { certificate, key } = selfSigned("tls.test");
  const data = { "tls.crt": Buffer.from(certificate).toString("base64"), "tls.key": Buffer.from(key).toString("base64") };
  const secret = { apiVersion: "v1", kind: "Secret", type: "kubernetes.io/tls", metadata: { name: "tls", namespace: "default" }, data };
  const plain = ingress("tls", "tls.test", "web") as { readonly spec: object };
  await world.mustApply(secret, { ...plain, spec: { ...plain.spec, tls: [{ hosts: ["tls.test"], secretName: "tls" }] } });
  await eventually("the certificate is shown", async () => (await inside("certs", "--host=tls.test")).includes(certificate.trim()));
  expect((await plugin(["ingresses", "--host=tls.test"])).out).toMatch(/^tls +tls\.test\/ +\S* +YES +web +80 +2$/m);
  await world.mustKubectl(["delete", "ingress", "tls"]);
  expect(JSON.parse(await inside("general"))).toMatchObject({ httpsPort: 443, healthPath: "/healthz" });
  expect(await inside("conf")).toMatch(/^http \{$/m);
  expect(await inside("conf", "--host=retired.test")).toContain("## start server retired.test");
  expect(await inside("exec", "id", "-u")).toBe("101\n");
  expect(await inside("exec", "/nginx-ingress-controller", "--version")).toMatch(
    /^ {2}Release: +\d+\.\d+\.\d+\n {2}nginx version: nginx\/\d/m,
  );
  const { name } = (await controllerPod()).metadata;
  expect(await inside("exec", `--pod=${name}`, "--", "sh", "-c", 'echo "$POD_NAME"')).toBe(`${name}\n`);
  expect(await plugin([...namespace, "exec", "-i", "--", "sh", "-c", "read word; echo got $word; exit 3"], "this\n")).toMatchObject({
    code: 3,
    out: expect.stringContaining("got this\n"),
  });
  expect((await plugin(["ssh", ...namespace], "id -g; exit\n")).out).toContain("82\n");
  expect((await inside("logs", "--tail=1")).match(/\n/g)).toHaveLength(1);
  expect(await inside("logs")).toMatch(/^I\d{4} .*this pod leads/m);
});

test("kubectl ingress-nginx reads Ingresses, Services and Deployments", async () => {
  const all = (await plugin(["ingresses", "--all-namespaces"])).out;
  expect(all).toMatch(/^NAMESPACE +INGRESS NAME +HOST\+PATH +ADDRESSES +TLS +SERVICE +SERVICE PORT +ENDPOINTS\n/);
  expect(all).toMatch(/^default +web +retired\.test\/ +203\.0\.113\.50 +NO +web +80 +2$/m);
  expect((await plugin(["ing", "--host=none.test"])).out.trim().split("\n")).toHaveLength(1);
  const info = (await plugin(["info", ...namespace])).out;
  expect(info).toMatch(/^Service cluster IP address: 10\.96\.\d+\.\d+\nLoadBalancer IP\|CNAME: 203\.0\.113\.50\n$/);
  const linted = ingress("linted", "linted.test", "web", { annotations: { "nginx.ingress.kubernetes.io/secure-backends": "true" } });
  await world.mustApply(linted);
  const lint = (await plugin(["lint", "--all-namespaces", "--show-all", "--verbose"])).out;
  expect(lint).toContain("✗ default/linted\n  - Contains the removed secure-backends annotation.\n      Lint added for version 0.21.0\n");
  expect(lint).toContain("✓ default/web\n");
  expect(lint).toContain("✓ ingress-nginx/ingress-nginx-controller\n");
  await world.mustKubectl(["delete", "ingress", "linted"]);
});

test("charts/sluice over it: the same names and selectors, its own smaller roles, a read-only root", async () => {
  const before = (await controllerPod()).metadata.name;
  const image = { repository: "sluice", tag: "image", digest: "" };
  const values = {
    controller: {
      image,
      updateStrategy: { type: "Recreate" },
      admissionWebhooks: { patch: { image: { repository: "sluice", tag: "certgen", digest: "" } } },
    },
  };
  const [rendered] = render([{ name: "upgrade", release: "ingress-nginx", namespace: "ingress-nginx", values }]);
  if (rendered!.kind === "error") throw new Error(rendered!.error);
  await install(rendered!.manifests);
  expect((await controllerPod()).metadata.name).not.toBe(before);
  // The former one was told to stop by its preStop hook and left its Lease.
  expect(world.logOf(before)).toMatch(/does not lead any more[\s\S]*SIGQUIT[\s\S]*exited with code 0/);
  await serves("sluice.test");
}, 180_000);
