import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { get } from "../kit/client.ts";
import { Controller, eventually } from "../kit/controller.ts";
import { type Call, FakeApi, fail, type Raw } from "../kit/fake-api.ts";
import type { KubeObject } from "../kit/fixtures/objects.ts";
import { type Load, startLoad } from "../kit/load.ts";
import { endpointSlices, ingress, ingressClass, service } from "../kit/manifests.ts";
import { type Pods, startPods } from "../kit/pods.ts";

const collections: Readonly<Record<string, string>> = {
  IngressClass: "/apis/networking.k8s.io/v1/ingressclasses",
  Ingress: "/apis/networking.k8s.io/v1/ingresses",
  Service: "/api/v1/services",
  EndpointSlice: "/apis/discovery.k8s.io/v1/endpointslices",
};
const lease = "default/ingress-controller-leader";

let folder: string;
let api: FakeApi;
let pods: Pods;
let controller: Controller;
let load: Load | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-api-"));
  load = undefined;
  api = new FakeApi();
  await api.listen();
  pods = await startPods({ "app-a": 2, "app-b": 2 });
  put(ingressClass, service("app-a"), service("app-b"), ingress("steady", { host: "steady.test", paths: { "/": "app-a" } }));
  put(...endpointSlices("app-a", pods.of("app-a")), ...endpointSlices("app-b", pods.of("app-b")));
});

afterEach(async () => {
  await load?.stop();
  await controller?.stop();
  await pods.stop();
  await api.close();
  rmSync(folder, { recursive: true });
});

function put(...objects: readonly KubeObject[]): void {
  for (const object of objects) {
    const { metadata } = object;
    const stamped = { creationTimestamp: "2026-01-01T00:00:00Z", uid: `${object.kind}-${metadata.name}`, ...metadata };
    api.put(collections[object.kind]!, { ...object, metadata: stamped } as unknown as Raw);
  }
}

async function prepare(...flags: readonly string[]): Promise<void> {
  const named = (name: string, more: object) => [{ name, ...more }];
  const config = {
    clusters: named("fake", { cluster: { server: api.url } }),
    users: named("pod", { user: { tokenFile: "token" } }),
    contexts: named("pod", { context: { cluster: "fake", user: "pod" } }),
    "current-context": "pod",
  };
  const file = join(folder, "kubeconfig");
  writeFileSync(file, JSON.stringify(config));
  writeFileSync(join(folder, "token"), "first");
  controller = await Controller.create([
    "--manifests=",
    `--kubeconfig=${file}`,
    "--publish-status-address=198.51.100.1",
    "--election-ttl=4s",
    ...flags,
  ]);
}

async function start(...flags: readonly string[]): Promise<void> {
  await prepare(...flags);
  await controller.start();
}

async function serves(host: string, app: string): Promise<void> {
  await eventually(`${host} is served by ${app}`, async () => (await get({ port: controller.ports.http, host })).app === app);
}

/** Makes the fault last while hosts are added, moved and removed; afterwards all of it must hold. */
async function surviving(name: string, begin: () => void | Promise<void>, end: () => void | Promise<void>): Promise<void> {
  put(ingress(`${name}-gone`, { host: `${name}-gone.test`, paths: { "/": "app-a" } }));
  put(ingress(`${name}-moved`, { host: `${name}-moved.test`, paths: { "/": "app-a" } }));
  await serves(`${name}-gone.test`, "app-a");
  await serves(`${name}-moved.test`, "app-a");
  await begin();
  put(ingress(`${name}-new`, { host: `${name}-new.test`, paths: { "/": "app-b" } }));
  put(ingress(`${name}-moved`, { host: `${name}-moved.test`, paths: { "/": "app-b" } }));
  api.remove(collections.Ingress!, `default/${name}-gone`);
  await load!.more(100);
  await end();
  await serves(`${name}-new.test`, "app-b");
  await serves(`${name}-moved.test`, "app-b");
  await eventually(
    "the removed host is gone",
    async () => (await get({ port: controller.ports.http, host: `${name}-gone.test` })).status === 404,
  );
}

/** Answers everything with these, in turn. */
function refusing(...statuses: readonly number[]): (call: Call) => boolean {
  let turn = 0;
  return ({ response }) => {
    fail(response, statuses[turn++ % statuses.length]!, { "retry-after": "1" });
    return true;
  };
}

test("whatever the API server does, nginx serves on and the controller catches up", { timeout: 240_000 }, async () => {
  await start();
  load = startLoad({ calls: [{ port: controller.ports.http, host: "steady.test" }] });
  const { reloads } = await controller.state();
  await surviving(
    "away",
    () => api.close(),
    async () => void (await api.listen()),
  );
  await surviving(
    "refusing",
    () => {
      api.intercept = refusing(500, 429, 401, 503);
      api.endWatches(undefined, "reset");
    },
    () => {
      api.intercept = () => false;
    },
  );
  await surviving(
    "compacted",
    () => {
      api.endWatches(undefined);
      api.intercept = refusing(503);
    },
    () => {
      api.forgetHistory();
      api.intercept = () => false;
    },
  );
  await surviving(
    "stuttering",
    () => {
      api.stutters = true;
    },
    () => {
      api.stutters = false;
    },
  );
  await surviving(
    "torn",
    () => api.sendText(collections.Ingress!, '{"type":"MODIFIED","object":{"metadata":{"name":"torn-mov'),
    () => api.endWatches(undefined, "reset"),
  );
  await eventually("the status of the latest Ingress is written", () => {
    const status = api.get(collections.Ingress!, "default/torn-new")?.status as { readonly loadBalancer?: object } | undefined;
    return JSON.stringify(status?.loadBalancer) === '{"ingress":[{"ip":"198.51.100.1"}]}';
  });
  expect(api.get("/apis/coordination.k8s.io/v1/leases", lease)?.spec).toMatchObject({ holderIdentity: "sluice-0" });
  const report = await load.stop();
  expect(report.failures).toEqual({});
  expect((await controller.state()).reloads).toBe(reloads);
});

test("an API server that is away at the start is waited for", { timeout: 120_000 }, async () => {
  await api.close();
  await prepare();
  const started = controller.start();
  await eventually("the controller has tried", () => controller.log.some((line) => line.includes("trying again")));
  expect((await fetch(controller.url("/healthz"))).status).toBe(500);
  await api.listen();
  await started;
  await serves("steady.test", "app-a");
});

test("with --watch-namespace nothing is asked of the whole cluster but IngressClasses", { timeout: 120_000 }, async () => {
  put({ ...service("other"), metadata: { name: "other", namespace: "elsewhere" } });
  put({ ...ingress("foreign", { host: "foreign.test", paths: { "/": "app-a" } }), metadata: { name: "foreign", namespace: "elsewhere" } });
  api.intercept = ({ path, response }) => {
    if (/\/namespaces\/[^/]+\//.test(path)) return false;
    fail(response, 403);
    return true;
  };
  await start("--watch-namespace=default", "--default-ssl-certificate=tls/wild", "--election-id=ingress-controller-leader");
  await serves("steady.test", "app-a");
  expect((await get({ port: controller.ports.http, host: "foreign.test" })).status).toBe(404);
  await eventually("the Lease is held", () => api.get("/apis/coordination.k8s.io/v1/leases", lease) !== undefined);
  const ofAll = new Set(api.calls.map(({ path }) => path).filter((path) => !/\/namespaces\/(default|tls)\//.test(path)));
  expect([...ofAll].sort()).toEqual(["/api/v1/namespaces/default", collections.IngressClass]);
  const secrets = api.calls.filter(({ path }) => path === "/api/v1/namespaces/tls/secrets");
  expect(new Set(secrets.map(({ query }) => query.get("fieldSelector")))).toEqual(new Set(["metadata.name=wild"]));
});
