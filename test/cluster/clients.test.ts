/** What well-known programs write and read, replayed from their documentation. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { selfSigned } from "../kit/certificates.ts";
import { type Call, get } from "../kit/client.ts";
import { startLoad } from "../kit/load.ts";
import { eventually } from "./control-plane.ts";
import { type ControllerPod, deployment, ingress, World } from "./world.ts";

const world = new World();
let pod: ControllerPod;

const prefix = "nginx.ingress.kubernetes.io";

beforeAll(async () => {
  await world.start();
  pod = await world.startController(0, ["--publish-service=ingress-nginx/publish"]);
  await world.mustApply(...deployment("old", 2, "v1"), ...deployment("new", 2, "v2"));
  await world.rolledOut("old");
  await world.rolledOut("new");
}, 180_000);

afterAll(() => world.stop(), 60_000);

async function reloads(): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${pod.healthzPort}/state`);
  return ((await answer.json()) as { readonly reloads: number }).reloads;
}

function call(host: string, headers: Call["headers"] = {}): Call {
  return { port: pod.httpPort, host, headers };
}

async function version(host: string, headers: Call["headers"] = {}): Promise<string> {
  const { status, body } = await get(call(host, headers));
  return status === 200 ? (JSON.parse(body) as { readonly version: string }).version : String(status);
}

/** Of so many requests, those that the new version answered. */
async function share(host: string, of: number): Promise<number> {
  let count = 0;
  for (let i = 0; i < of; i += 1) if ((await version(host)) === "v2") count += 1;
  return count;
}

/** Each worker keeps the share by itself: a few requests more or less. */
async function weighs(host: string, weight: number): Promise<void> {
  await eventually(`${weight} of 100 requests to ${host} reach the new version`, async () => {
    const count = await share(host, 100);
    if (weight === 0 || weight === 100) return count === weight;
    return Math.abs(count - weight) <= 5;
  });
}

async function annotate(name: string, annotations: Readonly<Record<string, string | null>>): Promise<void> {
  const patch = JSON.stringify({ metadata: { annotations } });
  await world.mustKubectl(["patch", "ingress", name, "--type=merge", "-p", patch]);
}

function service(name: string, app: string): object {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "default" },
    spec: { selector: { app }, ports: [{ port: 80, targetPort: 8080 }] },
  };
}

async function select(name: string, app: string): Promise<void> {
  await world.mustKubectl(["patch", "service", name, "--type=merge", "-p", JSON.stringify({ spec: { selector: { app } } })]);
}

test("a rollout of Argo Rollouts: the canary Ingress, its weights, the Services' selectors", async () => {
  await world.mustApply(service("argo-stable", "old"), service("argo-canary", "old"));
  await world.mustApply(ingress("argo-stable", "argo.test", "argo-stable"));
  await eventually("the stable version answers", async () => (await version("argo.test")) === "v1");
  const before = await reloads();
  const load = startLoad({ calls: [call("argo.test")], loops: 2, pauseMs: 5 });
  const canary = "argo-argo-stable-canary";
  const steps = { [`${prefix}/canary`]: "true", [`${prefix}/canary-weight`]: "0" };
  const byHeader = { [`${prefix}/canary-by-header`]: "X-Canary", [`${prefix}/canary-by-header-value`]: "iwantsit" };
  await world.mustApply(ingress(canary, "argo.test", "argo-canary", { annotations: { ...byHeader, ...steps } }));
  await select("argo-canary", "new");
  await weighs("argo.test", 0);
  await eventually("the header leads to the new version", async () => (await version("argo.test", { "x-canary": "iwantsit" })) === "v2");
  expect(await version("argo.test", { "x-canary": "always" })).toBe("v1");
  for (const weight of [20, 50, 80, 100]) {
    await annotate(canary, { [`${prefix}/canary-weight`]: String(weight) });
    await weighs("argo.test", weight);
  }
  // Promotion: the stable Service takes the new pods, then the canary gets nothing.
  await select("argo-stable", "new");
  await annotate(canary, { [`${prefix}/canary-weight`]: "0" });
  await weighs("argo.test", 100);
  // Of a largest weight of 1000 (maxTrafficWeight).
  await select("argo-canary", "old");
  await annotate(canary, { [`${prefix}/canary-weight`]: "250", [`${prefix}/canary-weight-total`]: "1000" });
  await weighs("argo.test", 75);
  await world.mustKubectl(["delete", "ingress", canary]);
  await weighs("argo.test", 100);
  expect((await load.stop()).failures).toEqual({});
  expect(await reloads()).toBe(before);
}, 120_000);

test("an analysis of Flagger: a clone of the Ingress, weights up and back to 0, then A/B by header and by cookie", async () => {
  await world.mustApply(service("podinfo", "old"), service("podinfo-canary", "new"));
  const own = { "kubernetes.io/ingress.class": "nginx", [`${prefix}/proxy-body-size`]: "2m" };
  await world.mustApply(byAnnotation("podinfo", "flagger.test", "podinfo", own));
  await eventually("the primary answers", async () => (await version("flagger.test")) === "v1");
  const before = await reloads();
  const load = startLoad({ calls: [call("flagger.test")], loops: 2, pauseMs: 5 });
  const start = { ...own, [`${prefix}/canary`]: "true", [`${prefix}/canary-weight`]: "0" };
  await world.mustApply(byAnnotation("podinfo-canary", "flagger.test", "podinfo-canary", start));
  await weighs("flagger.test", 0);
  for (const weight of [10, 50, 100, 0]) {
    await annotate("podinfo-canary", { [`${prefix}/canary-weight`]: String(weight) });
    await weighs("flagger.test", weight);
  }
  const cookie = "canary";
  const match = {
    [`${prefix}/canary-by-header`]: "x-user",
    [`${prefix}/canary-by-header-value`]: "insider",
    [`${prefix}/canary-by-cookie`]: cookie,
  };
  await annotate("podinfo-canary", match);
  await eventually("insiders get the new version", async () => (await version("flagger.test", { "x-user": "insider" })) === "v2");
  expect(await version("flagger.test", { "x-user": "other" })).toBe("v1");
  expect(await version("flagger.test", { cookie: `${cookie}=always` })).toBe("v2");
  expect(await version("flagger.test", { cookie: `${cookie}=never` })).toBe("v1");
  await annotate("podinfo-canary", { ...Object.fromEntries(Object.keys(match).map((key) => [key, null])) });
  await eventually("nobody does any more", async () => (await version("flagger.test", { "x-user": "insider" })) === "v1");
  expect((await load.stop()).failures).toEqual({});
  expect(await reloads()).toBe(before);
}, 120_000);

/** With the class as an annotation, as many still write it. */
function byAnnotation(name: string, host: string, backend: string, annotations: object): object {
  const { spec, ...rest } = ingress(name, host, backend, { annotations }) as { readonly spec: { readonly rules: object } };
  return { ...rest, spec: { rules: spec.rules } };
}

const token = "LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0";
const challenge = `/.well-known/acme-challenge/${token}`;

/** What cert-manager makes for one challenge; the solver listens on 8089. */
function solver(pathType: string, how: "annotation" | "field"): object[] {
  const labels = { "acme.cert-manager.io/http01-solver": "true", "acme.cert-manager.io/http-domain": "1234", app: "new" };
  const name = `cm-acme-http-solver-${how}`;
  const backend = { service: { name, port: { number: 8089 } } };
  const rules = [{ host: "acme.test", http: { paths: [{ path: challenge, pathType, backend }] } }];
  const everybody = { [`${prefix}/whitelist-source-range`]: "0.0.0.0/0,::/0" };
  const annotations = how === "annotation" ? { ...everybody, "kubernetes.io/ingress.class": "nginx" } : everybody;
  const spec = how === "field" ? { ingressClassName: "nginx", rules } : { rules };
  const ports = [{ name: "http", port: 8089, targetPort: 8080 }];
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace: "default", labels },
      spec: { type: "NodePort", ports, selector: { app: "new" } },
    },
    { apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata: { name, namespace: "default", labels, annotations }, spec },
  ];
}

async function answer(path: string): Promise<string> {
  const { status, headers } = await get({ ...call("acme.test"), path });
  return `${status} ${headers["x-version"] ?? headers.location ?? ""}`;
}

test.each([
  ["ImplementationSpecific", "annotation"],
  ["Exact", "field"],
] as const)(
  "cert-manager's challenge is answered over plain HTTP beside an Ingress that redirects to HTTPS: %s, class by %s",
  async (type, how) => {
    const { certificate, key } = selfSigned("acme.test");
    const data = { "tls.crt": Buffer.from(certificate).toString("base64"), "tls.key": Buffer.from(key).toString("base64") };
    const app = ingress("acme", "acme.test", "old", { annotations: { "cert-manager.io/cluster-issuer": "letsencrypt" } }) as {
      spec: object;
    };
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      type: "kubernetes.io/tls",
      metadata: { name: "acme-tls", namespace: "default" },
      data,
    };
    await world.mustApply(secret, { ...app, spec: { ...app.spec, tls: [{ hosts: ["acme.test"], secretName: "acme-tls" }] } });
    await eventually("the app redirects", async () => (await answer("/")) === "308 https://acme.test");
    const before = await reloads();
    const objects = solver(type, how);
    await world.mustApply(...objects);
    await eventually("the solver answers", async () => (await answer(challenge)) === "200 v2");
    expect(await answer("/other")).toBe("308 https://acme.test/other");
    await world.mustKubectl(["delete", "-f", "-"], { apiVersion: "v1", kind: "List", items: objects });
    await eventually("the solver is gone", async () => (await answer(challenge)) !== "200 v2");
    expect(await reloads()).toBe(before);
  },
);

test("cert-manager's edit in place: the path is put into the app's own Ingress and taken out again", async () => {
  const [solverService] = solver("Exact", "field");
  await world.mustApply(solverService!, ingress("inplace", "inplace.test", "old"));
  const at = async (path: string) => (await get({ ...call("inplace.test"), path })).headers["x-version"];
  await eventually("the app answers", async () => (await at(challenge)) === "v1");
  const backend = { service: { name: "cm-acme-http-solver-field", port: { number: 8089 } } };
  const add = [{ op: "add", path: "/spec/rules/0/http/paths/0", value: { path: challenge, pathType: "Exact", backend } }];
  await world.mustKubectl(["patch", "ingress", "inplace", "--type=json", "-p", JSON.stringify(add)]);
  await eventually("the solver answers", async () => (await at(challenge)) === "v2");
  expect(await at("/")).toBe("v1");
  const remove = [{ op: "remove", path: "/spec/rules/0/http/paths/0" }];
  await world.mustKubectl(["patch", "ingress", "inplace", "--type=json", "-p", JSON.stringify(remove)]);
  await eventually("the app answers again", async () => (await at(challenge)) === "v1");
});

test("external-dns reads the load balancer's names and addresses from the status, and sees them change", async () => {
  const annotations = { "external-dns.alpha.kubernetes.io/ttl": "60" };
  await world.mustApply(ingress("dns", "dns.test", "old", { annotations }));
  const ways = [{ hostname: "lb-1.example.test" }, { hostname: "lb-2.example.test" }, { ip: "203.0.113.8" }];
  for (const way of ways) {
    const patch = JSON.stringify({ status: { loadBalancer: { ingress: [way] } } });
    await world.mustKubectl(["-n", "ingress-nginx", "patch", "service", "publish", "--subresource=status", "--type=merge", "-p", patch]);
    const [kind, value] = Object.entries(way)[0]!;
    const condition = `--for=jsonpath={.status.loadBalancer.ingress[?(@.${kind}=="${value}")].${kind}}=${value}`;
    await world.mustKubectl(["wait", "ingress/dns", condition, "--timeout=60s"]);
  }
  // The Service's own external address stays, the load balancer's former ones do not.
  const targets = await world.mustKubectl(["get", "ingress", "dns", "-o", "jsonpath={.status.loadBalancer.ingress[*]['ip','hostname']}"]);
  expect(targets.split(" ").sort()).toEqual(["198.51.100.9", "203.0.113.8"]);
});
