import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "./control-plane.ts";
import { deployment, ingress, World } from "./world.ts";

const world = new World();
const hooks = "sluice-admission";

function certgen(...args: readonly string[]): void {
  const program = resolve(process.env.SLUICE_ROOT!, "dist/kube-webhook-certgen.mjs");
  const where = ["--namespace=ingress-nginx", "--secret-name=admission", `--kubeconfig=${world.plane.adminConfig}`];
  execFileSync(process.execPath, [program, ...args, ...where], { stdio: "pipe" });
}

interface Secret {
  readonly data: Readonly<Record<string, string>>;
}

beforeAll(async () => {
  await world.start();
  await world.mustApply(...deployment("web", 1, "v1"));
  certgen("create", "--host=localhost,127.0.0.1");
  const { data } = await world.get<Secret>("secret", "ingress-nginx", "admission");
  const files = { cert: join(world.folder, "webhook.crt"), key: join(world.folder, "webhook.key") };
  for (const name of ["cert", "key"] as const) writeFileSync(files[name], Buffer.from(data[name]!, "base64"));
  const port = 8006;
  const given = [
    `--validating-webhook=:${port}`,
    `--validating-webhook-certificate=${files.cert}`,
    `--validating-webhook-key=${files.key}`,
  ];
  await world.startController(0, given);
  const rules = [{ apiGroups: ["networking.k8s.io"], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["ingresses"] }];
  const webhook = {
    name: "validate.nginx.ingress.kubernetes.io",
    matchPolicy: "Equivalent",
    rules,
    failurePolicy: "Ignore",
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    clientConfig: { url: `https://localhost:${port}/networking/v1/ingresses` },
  };
  await world.mustApply({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: hooks },
    webhooks: [webhook],
  });
  certgen("patch", `--webhook-name=${hooks}`, "--patch-mutating=false", "--patch-failure-policy=Fail");
  await eventually("the API server asks the webhook", async () => {
    const { code, err } = await world.kubectl(["apply", "--dry-run=server", "-f", "-"], badPath("probe"));
    return code !== 0 && err.includes("invalid paths");
  });
}, 180_000);

afterAll(() => world.stop(), 60_000);

function badPath(name: string): object {
  return ingress(name, `${name}.test`, "web", { path: "/a$b" });
}

test("kubectl shows the refusal and the warnings", async () => {
  await world.mustApply(ingress("web", "web.test", "web"));
  const second = await world.apply(ingress("second", "web.test", "web"));
  expect(second.code).not.toBe(0);
  expect(second.err).toContain(
    'admission webhook "validate.nginx.ingress.kubernetes.io" denied the request: host "web.test" and path "/" is already defined in ingress default/web',
  );
  const unknown = await world.apply(
    ingress("warned", "warned.test", "not-there", { annotations: { "nginx.ingress.kubernetes.io/enable-influxdb": "true" } }),
  );
  expect(unknown.code).toBe(0);
  expect(unknown.err).toContain("Warning: annotation nginx.ingress.kubernetes.io/enable-influxdb is deprecated");
});

test("a dry run is checked and stores nothing; edits, statuses and deletions go through", async () => {
  const dry = await world.kubectl(["apply", "--dry-run=server", "-f", "-"], ingress("dry", "dry.test", "web"));
  expect(dry.code).toBe(0);
  expect((await world.kubectl(["get", "ingress", "dry"])).code).not.toBe(0);
  await world.mustApply(ingress("web", "web.test", "web", { annotations: { note: "1" } }));
  expect((await world.apply(ingress("web", "web.test", "web", { path: "/a b" }))).code).not.toBe(0);
  await world.mustKubectl(["delete", "ingress", "web"]);
  await world.mustApply(ingress("second", "web.test", "web"));
});

test("Ingresses of another class pass unchecked", async () => {
  expect((await world.apply(ingress("foreign", "web.test", "web", { class: "foreign", path: "/a b" }))).code).toBe(0);
});

test.each(["cloud", "baremetal", "kind"])("deploy/%s.yaml is taken without a warning", async (name) => {
  const { code, out, err } = await world.kubectl([
    "apply",
    "--dry-run=server",
    "--warnings-as-errors",
    "-f",
    resolve(process.env.SLUICE_ROOT!, `deploy/${name}.yaml`),
  ]);
  // The class and the account of this world were applied by the same means and are not new.
  expect(err).toBe("");
  expect(code).toBe(0);
  expect(out).toContain("deployment.apps/ingress-nginx-controller created");
});
