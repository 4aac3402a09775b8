import { expect, test } from "vitest";
import { build } from "../../../control/build/build.ts";
import type { Model } from "../../../control/model/model.ts";
import { Objects } from "../../../control/objects/objects.ts";
import type { KubeObject } from "../../../control/source/source.ts";
import { buildOptions, objectOf, annotationPrefix as prefix } from "../../kit/build-input.ts";

interface Draft {
  readonly name: string;
  readonly service?: string;
  readonly host?: string;
  readonly path?: string;
  /** Seconds; larger is older. */
  readonly age?: number;
  /** Without their prefix; "sluice/…" as they are. */
  readonly with?: Readonly<Record<string, string>>;
}

function ingress({ name, service = "echo", host = "app.test", path = "/", age = 0, with: own = {} }: Draft): KubeObject {
  const creationTimestamp = new Date(Date.parse("2026-11-21T12:00:00Z") - age * 1000).toISOString();
  const annotations = Object.fromEntries(Object.entries(own).map(([k, v]) => [k.startsWith("sluice/") ? k : `${prefix}/${k}`, v]));
  const backend = { service: { name: service, port: { number: 80 } } };
  return objectOf("Ingress", {
    metadata: { name, namespace: "default", uid: `uid-${name}`, creationTimestamp, annotations },
    spec: { ingressClassName: "nginx", rules: [{ host, http: { paths: [{ path, pathType: "Prefix", backend }] } }] },
  });
}

function modelOf(drafts: readonly Draft[], data: Readonly<Record<string, string>> = {}): Model {
  const objects = new Objects();
  const service = (name: string) =>
    objectOf("Service", { metadata: { name, namespace: "default" }, spec: { clusterIP: "10.0.0.1", ports: [{ port: 80 }] } });
  const all = [
    objectOf("IngressClass", { metadata: { name: "nginx" }, spec: { controller: "k8s.io/ingress-nginx" } }),
    objectOf("ConfigMap", { metadata: { name: "settings", namespace: "default" }, data }),
    ...["echo", "other", "canary"].map(service),
    ...drafts.map(ingress),
  ];
  objects.change(all.map((object) => ({ type: "upsert", object })));
  return build(objects, new Map(), buildOptions({ configMap: "default/settings" })).model;
}

function backendOf(model: Model, name: string) {
  const backend = model.backends.get(`default-${name}-80`);
  if (backend === undefined) throw new Error(`there is no backend of ${name}`);
  return backend.document;
}

function featuresOf(model: Model, host: string, path: string) {
  const route = model.hosts.find((h) => h.name === host)?.routes.find((r) => r.labels.path === path);
  return route?.features;
}

test("the first mode and the last cookie of a Service hold, and cookies are issued where they are asked for", () => {
  const model = modelOf([
    { name: "plain", host: "plain.test", age: 30 },
    { name: "first", host: "a.test", age: 20, with: { affinity: "cookie", "affinity-mode": "persistent", "session-cookie-name": "A" } },
    { name: "last", host: "*.b.test", age: 10, with: { affinity: "cookie", "affinity-mode": "balanced", "session-cookie-max-age": "60" } },
  ]);
  expect(backendOf(model, "echo").sessionAffinityConfig).toEqual({
    name: "cookie",
    mode: "persistent",
    cookieSessionAffinity: { name: "INGRESSCOOKIE", maxage: "60", locations: { "a.test": ["/"], "*.b.test": ["/"] } },
  });
  expect(featuresOf(model, "a.test", "/")?.session).toEqual({ issue: true });
  expect(featuresOf(model, "*.b.test", "/")?.session).toEqual({ issue: true });
  expect(featuresOf(model, "plain.test", "/")?.session).toBeUndefined();
  expect(model.findings).toMatchObject([{ code: "backend-conflict", about: { name: "first" }, also: [{ name: "last" }] }]);
});

test("a canary has the affinity of its primary, unless it is told otherwise; its own does not count", () => {
  const primary = { name: "web", age: 20, with: { affinity: "cookie" } };
  const canary = { canary: "true", "canary-weight": "5", affinity: "cookie", "session-cookie-name": "OWN" };
  const sticky = modelOf([primary, { name: "c", service: "canary", with: canary }]);
  expect(backendOf(sticky, "canary").sessionAffinityConfig).toEqual(backendOf(sticky, "echo").sessionAffinityConfig);
  const legacy = modelOf([primary, { name: "c", service: "canary", with: { ...canary, "affinity-canary-behavior": "legacy" } }]);
  expect(backendOf(legacy, "canary").sessionAffinityConfig.name).toBe("");
});

test("the oldest Ingress of a Service says how its requests are spread", () => {
  const model = modelOf([
    { name: "old", host: "a.test", age: 20, with: { "load-balance": "ewma", "sluice/max-in-flight": "7", "sluice/slow-start": "30" } },
    { name: "new", host: "b.test", age: 10, with: { "load-balance": "round_robin", "upstream-hash-by": "$host" } },
  ]);
  expect(backendOf(model, "echo")).toMatchObject({ "load-balance": "ewma", maxInFlight: 7, slowStart: 30, upstreamHashByConfig: {} });
  for (const host of ["a.test", "b.test"]) {
    expect(featuresOf(model, host, "/")).toMatchObject({ measure: { end: true }, inFlight: { limited: true } });
  }
  const at = "load-balance, upstream-hash-by";
  expect(model.findings).toMatchObject([{ code: "backend-conflict", about: { name: "new" }, at, also: [{ name: "old" }] }]);
});

test("the ConfigMap's algorithm is the default; one that nobody knows is a finding", () => {
  const model = modelOf([{ name: "web" }, { name: "own", service: "other", host: "b.test", with: { "load-balance": "round_robin" } }], {
    "load-balance": "least_conn",
  });
  expect(backendOf(model, "echo")["load-balance"]).toBe("least_conn");
  expect(backendOf(model, "other")["load-balance"]).toBe("round_robin");
  const unknown = modelOf([{ name: "web" }], { "load-balance": "fastest" });
  expect(backendOf(unknown, "echo")["load-balance"]).toBeUndefined();
  expect(unknown.findings.map((f) => f.code)).toContain("setting-invalid");
});

test("a hash key comes with its subset only where one is asked for", () => {
  const key = { "upstream-hash-by": "$request_uri" };
  const plain = modelOf([{ name: "web", with: { ...key, "upstream-hash-by-subset-size": "2", "load-balance": "ewma" } }]);
  expect(backendOf(plain, "echo").upstreamHashByConfig).toEqual(key);
  expect(featuresOf(plain, "app.test", "/")?.measure).toBeUndefined();
  const subset = modelOf([{ name: "web", with: { ...key, "upstream-hash-by-subset": "true" } }]);
  expect(backendOf(subset, "echo").upstreamHashByConfig).toEqual({
    ...key,
    "upstream-hash-by-subset": true,
    "upstream-hash-by-subset-size": 3,
  });
});

test("a Service that serves by itself as well keeps the rules of its canary Ingress, whichever is older", () => {
  for (const age of [10, 30]) {
    const model = modelOf([
      { name: "web", age: 20 },
      { name: "preview", service: "canary", host: "preview.test", age },
      { name: "c", service: "canary", age: 15, with: { canary: "true", "canary-weight": "20", "sluice/canary-sticky": "header:X-User" } },
    ]);
    expect(backendOf(model, "echo").alternativeBackends).toEqual(["default-canary-80"]);
    expect(backendOf(model, "canary")).toMatchObject({
      noServer: false,
      trafficShapingPolicy: { weight: 20, sticky: { kind: "header", name: "X-User" } },
    });
  }
});

test("a canary beside nothing has no backend and is a finding", () => {
  const model = modelOf([{ name: "c", service: "canary", with: { canary: "true", "canary-weight": "20" } }]);
  expect(model.backends.has("default-canary-80")).toBe(false);
  expect(model.findings.map((f) => f.code)).toContain("canary-unmatched");
});

test("limits are in thousandths of requests, by uid of the Ingress; what is 0 or below is none", () => {
  const model = modelOf(
    [
      {
        name: "web",
        with: {
          "limit-rps": "3",
          "limit-rpm": "100",
          "limit-burst-multiplier": "2",
          "limit-connections": "4",
          "limit-whitelist": "10.0.0.0/8",
        },
      },
    ],
    { "limit-req-status-code": "429", "limit-conn-zone-variable": "$http_x_user" },
  );
  expect(featuresOf(model, "app.test", "/")?.rateLimit).toEqual({
    zone: "uid-web",
    key: "$http_x_user",
    allow: ["10.0.0.0/8"],
    requests: [
      { name: "rps", rate: 3000, burst: 6000 },
      { name: "rpm", rate: 1666, burst: 200000 },
    ],
    connections: 4,
    requestStatus: 429,
    connectionStatus: 503,
  });
  const none = modelOf([{ name: "web", with: { "limit-rps": "0", "limit-rpm": "-1", "limit-connections": "-5", "limit-rate": "-1" } }]);
  expect(featuresOf(none, "app.test", "/")).toEqual({});
});

test("a multiplier that nginx would refuse is a finding, and the default holds", () => {
  const model = modelOf([{ name: "web", with: { "limit-rpm": "1", "limit-burst-multiplier": "0" } }]);
  expect(featuresOf(model, "app.test", "/")?.rateLimit?.requests).toEqual([{ name: "rpm", rate: 16, burst: 5000 }]);
  expect(model.findings).toMatchObject([{ code: "annotation-invalid", at: `metadata.annotations[${prefix}/limit-burst-multiplier]` }]);
});

test("bandwidth is said of a route only where it differs from the ConfigMap", () => {
  const rate = (value: string) =>
    featuresOf(modelOf([{ name: "web", with: { "limit-rate": value } }], { "limit-rate": "100" }), "app.test", "/");
  expect(rate("100")?.limitRate).toBeUndefined();
  expect(rate("0")?.limitRate).toEqual({ bytes: 0 });
  expect(rate("5")?.limitRate).toEqual({ bytes: 5120 });
});

test("whether a refused connection is tried again is said where it differs", () => {
  const retries = (own: Readonly<Record<string, string>>) => featuresOf(modelOf([{ name: "web", with: own }]), "app.test", "/")?.retries;
  expect(retries({})).toBeUndefined();
  expect(retries({ "proxy-next-upstream": "error http_502" })).toBeUndefined();
  expect(retries({ "proxy-next-upstream": "off" })).toEqual({ tries: 3, refused: false });
  expect(retries({ "proxy-next-upstream": "timeout" })).toEqual({ tries: 3, refused: false });
  expect(retries({ "proxy-next-upstream-tries": "1" })).toEqual({ tries: 1, refused: false });
  expect(retries({ "proxy-next-upstream-tries": "5" })).toEqual({ tries: 5, refused: true });
});

test("service-upstream that does not parse is false, whatever the ConfigMap says", () => {
  const model = modelOf(
    [
      { name: "web", with: { "service-upstream": "maybe" } },
      { name: "b", service: "other", host: "b.test" },
    ],
    {
      "service-upstream": "true",
    },
  );
  expect(model.backends.get("default-echo-80")?.endpoints.kind).toBe("slices");
  expect(model.backends.get("default-other-80")?.endpoints.kind).toBe("fixed");
});

test("an annotation of our own that does not exist is a finding under its full name", () => {
  const model = modelOf([{ name: "web", with: { "sluice/canary-stick": "x" } }]);
  expect(model.findings).toMatchObject([{ code: "annotation-unknown", at: "metadata.annotations[sluice/canary-stick]" }]);
});
