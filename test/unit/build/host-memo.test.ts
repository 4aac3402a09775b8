import { expect, test } from "vitest";
import { type Built, build } from "../../../control/build/build.ts";
import { Objects } from "../../../control/objects/objects.ts";
import { documentsOf, generalOf } from "../../../control/plan/documents.ts";
import { partsOf } from "../../../control/plan/plan.ts";
import type { Ingress } from "../../../control/source/kinds.ts";
import { annotationPrefix, buildOptions, objectOf } from "../../kit/build-input.ts";
import { selfSigned } from "../../kit/certificates.ts";
import { seeded } from "../../kit/nasty.ts";

type Kind = Parameters<typeof objectOf>[0];
type Raw = { readonly metadata: { readonly name: string; readonly namespace: string } } & Record<string, unknown>;

const options = buildOptions({ configMap: "default/settings" });
const hosts = ["a.test", "a.test", "*.test", "www.a.test", ""];
const pairs = ["a.test", "*.test"].map((name) => selfSigned(name));

/** Everything that a build gives, in an order that does not matter. */
function shown(built: Built): unknown {
  const documents = documentsOf(
    built.model,
    generalOf(built.basis, { httpsPort: 443, healthPath: "/healthz", passthrough: false, spanSocket: "" }, built.model.patterns),
    () => [],
  );
  const parts = partsOf(built.model);
  return {
    ...documents,
    certificates: [...documents.certificates.keys()],
    profiles: [...parts.profiles.keys()].sort(),
    blocks: [...parts.servers].sort(),
    findings: built.model.findings.map((f) => JSON.stringify(f)).sort(),
    references: [...built.references].sort(),
  };
}

class Cluster {
  readonly #raw = new Map<string, { readonly kind: Kind; readonly raw: Raw }>();
  readonly #objects = new Objects();
  readonly #rawOf = new WeakMap<object, Raw>();
  #lastGood: Built["lastGood"] = new Map();

  put(kind: Kind, name: string, more: Record<string, unknown>, metadata: Record<string, unknown> = {}): void {
    const raw: Raw = { metadata: { name, namespace: kind === "IngressClass" ? "" : "default", ...metadata }, ...more };
    this.#raw.set(`${kind} ${name}`, { kind, raw });
    const object = objectOf(kind, raw);
    this.#rawOf.set(object, raw);
    this.#objects.change([{ type: "upsert", object }]);
  }

  drop(kind: Kind, name: string): void {
    if (this.#raw.delete(`${kind} ${name}`)) this.#objects.change([{ type: "delete", kind, namespace: "default", name }]);
  }

  /** As the controller builds, and by objects that no build has seen. */
  build(): { readonly usual: Built; readonly anew: Built } {
    const objects = new Objects();
    objects.change([...this.#raw.values()].map(({ kind, raw }) => ({ type: "upsert" as const, object: objectOf(kind, raw) })));
    const lastGood = new Map([...this.#lastGood].map(([key, ingress]) => [key, objectOf("Ingress", this.#rawOf.get(ingress)) as Ingress]));
    const anew = build(objects, lastGood, options);
    const usual = build(this.#objects, this.#lastGood, options);
    this.#lastGood = usual.lastGood;
    return { usual, anew };
  }
}

function start(): Cluster {
  const cluster = new Cluster();
  cluster.put("IngressClass", "nginx", { spec: { controller: "k8s.io/ingress-nginx" } });
  cluster.put("ConfigMap", "settings", { data: {} });
  return cluster;
}

interface Draft {
  readonly path?: string;
  readonly secret?: string;
}

function putIngress(cluster: Cluster, name: string, host: string, annotations: Readonly<Record<string, string>>, draft: Draft = {}): void {
  const { path = "/", secret = "" } = draft;
  const age = name.charCodeAt(name.length - 1);
  cluster.put(
    "Ingress",
    name,
    {
      spec: {
        ingressClassName: "nginx",
        ...(host === "" || secret === "" ? {} : { tls: [{ hosts: [host], secretName: secret }] }),
        rules: [{ host, http: { paths: [{ path, pathType: "Prefix", backend: { service: { name: "app", port: { number: 80 } } } }] } }],
      },
    },
    {
      uid: `0f5b6c1e-9f4d-4a58-8c11-${String(age).padStart(12, "0")}`,
      creationTimestamp: new Date(1.7e12 + age * 1000).toISOString(),
      annotations: Object.fromEntries(Object.entries(annotations).map(([key, value]) => [`${annotationPrefix}/${key}`, value])),
    },
  );
}

function putService(cluster: Cluster, name: string, port = 80): void {
  cluster.put("Service", name, { spec: { clusterIP: "10.0.0.1", ports: [{ name: "http", port, targetPort: 8080 }] } });
}

const annotationSets: readonly Readonly<Record<string, string>>[] = [
  {},
  { "rewrite-target": "/x" },
  { "use-regex": "true", "proxy-buffering": "on" },
  { "auth-type": "basic", "auth-secret": "users", "auth-realm": "r" },
  { "auth-tls-secret": "default/ca" },
  { "custom-headers": "default/headers" },
  { "from-to-www-redirect": "true", "server-alias": "alias.test" },
  { affinity: "cookie", "session-cookie-name": "s" },
  { canary: "true", "canary-weight": "20" },
  { "default-backend": "other", "custom-http-errors": "503" },
  { "load-balance": "ewma", "proxy-body-size": "9m" },
  { "backend-protocol": "HTTPS", "proxy-ssl-secret": "default/pair" },
  { "permanent-redirect": "nonsense here" },
  { "ssl-redirect": "false", "app-root": "/app" },
];

function change(cluster: Cluster, random: () => number): void {
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const name = `web-${one(["a", "b", "c", "d"])}`;
  const pair = one(pairs);
  const putPair = () =>
    cluster.put(
      "Secret",
      one(["pair", "pair", "ca"]),
      { data: base64({ "tls.crt": pair.certificate, "tls.key": pair.key, "ca.crt": pair.certificate }) },
      { uid: `u${random()}` },
    );
  const changes: readonly (() => void)[] = [
    () => putIngress(cluster, name, one(hosts), one(annotationSets), { path: one(["/", "/sub", "/sub/"]), secret: one(["pair", ""]) }),
    () => putIngress(cluster, name, one(hosts), { ...one(annotationSets), ...one(annotationSets) }, { secret: one(["pair", ""]) }),
    () => cluster.drop("Ingress", name),
    () => putService(cluster, one(["app", "other"]), one([80, 81])),
    () => cluster.drop("Service", one(["app", "other"])),
    () => cluster.put("Secret", "users", { data: base64({ auth: `u:{PLAIN}${random()}` }) }),
    () => cluster.drop("Secret", one(["pair", "ca", "users"])),
    () => cluster.put("ConfigMap", "headers", { data: { "X-A": String(Math.floor(random() * 3)) } }),
    () => cluster.drop("ConfigMap", "headers"),
    () =>
      cluster.put("ConfigMap", "settings", { data: one([{}, { "ssl-redirect": "false" }, { "global-allowed-response-headers": "X-A" }]) }),
  ];
  one([...changes, putPair, putPair, putPair])();
}

function base64(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]));
}

test.each([1, 2, 3, 4])("seed %i: after any change all is as if it had been built for the first time", (seed) => {
  const random = seeded(seed);
  const cluster = start();
  for (let step = 0; step < 150; step++) {
    change(cluster, random);
    const { usual, anew } = cluster.build();
    expect(shown(usual), `step ${step}`).toEqual(shown(anew));
  }
});

test("what a change does not concern stays the same object, findings and all", () => {
  const cluster = start();
  putService(cluster, "app");
  putIngress(cluster, "web-a", "a.test", { "auth-type": "basic", "auth-secret": "users" }, { secret: "pair" });
  putIngress(cluster, "web-b", "b.test", {});
  const hostOf = (built: Built, name: string) => built.model.hosts.find((host) => host.name === name);
  const first = cluster.build().usual;
  putIngress(cluster, "web-b", "b.test", { "app-root": "/app" });
  const second = cluster.build().usual;
  expect(hostOf(second, "a.test")).toBe(hostOf(first, "a.test"));
  expect(hostOf(second, "b.test")).not.toBe(hostOf(first, "b.test"));
  const about = (built: Built) => built.model.findings.filter((f) => f.about.name === "web-a").map((f) => f.code);
  expect(about(second)).toEqual(about(first));
  expect(about(first)).toEqual(["secret-missing", "reference-missing"]);
  cluster.put("Secret", "users", { data: base64({ auth: "u:{PLAIN}p" }) });
  const third = cluster.build().usual;
  expect(hostOf(third, "a.test")).not.toBe(hostOf(second, "a.test"));
  expect(hostOf(third, "b.test")).toBe(hostOf(second, "b.test"));
});

test("a certificate of the wildcard beside a host counts for it, too", () => {
  const cluster = start();
  putService(cluster, "app");
  putIngress(cluster, "web-a", "a.test", {});
  putIngress(cluster, "web-b", "*.test", {});
  cluster.build();
  putIngress(cluster, "web-b", "*.test", {}, { secret: "pair" });
  const { usual, anew } = cluster.build();
  expect(shown(usual)).toEqual(shown(anew));
  expect(usual.model.hosts.find((host) => host.name === "a.test")!.routes[0]!.features.sslRedirect).toBeDefined();
});
