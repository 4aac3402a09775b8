import { afterEach, beforeEach, expect, test } from "vitest";
import { get } from "../kit/client.ts";
import { eventually } from "../kit/controller.ts";
import { fail } from "../kit/fake-api.ts";
import { collections, FakedCluster } from "../kit/faked-cluster.ts";
import { configMap, ingress, service } from "../kit/manifests.ts";

let cluster: FakedCluster;

beforeEach(async () => {
  cluster = await FakedCluster.create();
});

afterEach(() => cluster.stop());

test("with --watch-namespace nothing is asked of the whole cluster but IngressClasses", { timeout: 120_000 }, async () => {
  const { api } = cluster;
  const elsewhere = ingress("foreign", { host: "foreign.test", paths: { "/": "app-a" } });
  cluster.put({ ...service("app-a"), metadata: { name: "app-a", namespace: "elsewhere" } });
  cluster.put({ ...elsewhere, metadata: { name: "foreign", namespace: "elsewhere" } });
  api.intercept = ({ path, response }) => {
    if (/\/namespaces\/[^/]+\//.test(path)) return false;
    fail(response, 403);
    return true;
  };
  const { ports } = await cluster.start("--watch-namespace=default", "--default-ssl-certificate=tls/wild");
  await cluster.serves("steady.test", "app-a");
  expect((await get({ port: ports.http, host: "foreign.test" })).status).toBe(404);
  await eventually("the Lease is held", () => api.get(collections.Lease, "default/ingress-controller-leader") !== undefined);
  const ofAll = new Set(api.calls.map(({ path }) => path).filter((path) => !/\/namespaces\/(default|tls)\//.test(path)));
  expect([...ofAll].sort()).toEqual(["/api/v1/namespaces/default", collections.IngressClass]);
  const secrets = api.calls.filter(({ path }) => path === "/api/v1/namespaces/tls/secrets");
  expect(new Set(secrets.map(({ query }) => query.get("fieldSelector")))).toEqual(new Set(["metadata.name=wild"]));
});

/** Kinds of the objects that Events were written about. */
async function spokenOf(...flags: readonly string[]): Promise<ReadonlySet<string>> {
  const { api } = cluster;
  await cluster.start(...flags);
  await eventually("it leads", () => api.get(collections.Lease, "default/ingress-controller-leader") !== undefined);
  const bad = { annotations: { "x-forwarded-prefix": "a;b" } };
  cluster.put(ingress("bad", { host: "bad.test", paths: { "/": "app-a" }, ...bad }), configMap({ "keep-alive": "70" }));
  cluster.put(ingress("good", { host: "good.test", paths: { "/": "app-b" } }));
  await cluster.serves("good.test", "app-b");
  const kinds = () => new Set(api.all(collections.Event).map((event) => (event.involvedObject as { readonly kind: string }).kind));
  await eventually("the reload is told", () => kinds().has("Pod"));
  await cluster.controller.stop();
  return kinds();
}

test("Events tell of Ingresses, ConfigMaps and reloads", { timeout: 120_000 }, async () => {
  expect([...(await spokenOf())].sort()).toEqual(["ConfigMap", "Ingress", "Pod"]);
});

test("--disable-sync-events leaves those about reloads", { timeout: 120_000 }, async () => {
  expect([...(await spokenOf("--disable-sync-events"))]).toEqual(["Pod"]);
});
