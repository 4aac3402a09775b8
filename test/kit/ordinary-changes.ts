/** The changes that a cluster sees all day, none of which may reload nginx: hosts, paths, endpoints, certificates, canary weights, timeouts, services. */

import { selfSigned } from "./certificates.ts";
import { get } from "./client.ts";
import type { Controller } from "./controller.ts";
import type { KubeObject } from "./fixtures/objects.ts";
import { endpointSlices, ingress, ingressClass, service, tlsSecret } from "./manifests.ts";
import type { Pods } from "./pods.ts";

interface Change {
  readonly file: string;
  readonly objects: readonly KubeObject[];
  /** Once the change is applied, one of these apps answers here. */
  readonly probe: { readonly host: string; readonly path?: string; readonly tls?: boolean; readonly apps: readonly string[] };
}

/** Served over http and https, each time with another certificate. */
function steadyHost(): readonly KubeObject[] {
  const made = selfSigned("steady.test");
  const paths = { "/": "app-a", "/b": "app-b" };
  return [
    ingress("steady", { host: "steady.test", paths, tlsSecret: "steady", annotations: { "ssl-redirect": "false" } }),
    tlsSecret("steady", made.certificate, made.key),
  ];
}

/** One function a kind of change; each number gives other contents. */
const kinds: readonly ((number: number, pods: Pods) => Change)[] = [
  function host(number) {
    const name = `host-${number}`;
    const objects = [ingress(name, { host: `${name}.test`, paths: { "/": "app-b" } })];
    return { file: `${name}.json`, objects, probe: { host: `${name}.test`, apps: ["app-b"] } };
  },
  function path(number) {
    const objects = [ingress("paths", { host: "paths.test", paths: { "/": "app-a", [`/p${number}`]: "app-b" } })];
    return { file: "paths.json", objects, probe: { host: "paths.test", path: `/p${number}/x`, apps: ["app-b"] } };
  },
  function endpoints(number, pods) {
    const all = pods.of("app-a");
    const objects = endpointSlices("app-a", number % 2 === 0 ? all.slice(0, 2) : all.slice(1));
    return { file: "app-a-pods.json", objects, probe: { host: "steady.test", apps: ["app-a"] } };
  },
  function certificate() {
    return { file: "steady.json", objects: steadyHost(), probe: { host: "steady.test", tls: true, apps: ["app-a"] } };
  },
  function canaryWeight(number) {
    const annotations = { canary: "true", "canary-weight": String(number % 100) };
    const objects = [ingress("main", { host: "canary.test" }), ingress("new", { host: "canary.test", annotations })];
    return { file: "canary.json", objects, probe: { host: "canary.test", apps: ["app-a", "app-b"] } };
  },
  function timeout(number) {
    const annotations = { "proxy-read-timeout": String(20 + number), "proxy-connect-timeout": String(1 + (number % 30)) };
    const objects = [ingress("timeouts", { host: "timeouts.test", paths: { "/": "app-a" }, annotations })];
    return { file: "timeouts.json", objects, probe: { host: "timeouts.test", apps: ["app-a"] } };
  },
  function newService(number, pods) {
    const name = `extra-${number}`;
    const slices = endpointSlices(name, pods.of("app-b").slice(0, 1 + (number % 3)));
    const objects = [service(name), ...slices, ingress(name, { host: "extra.test" })];
    return { file: "extra.json", objects, probe: { host: "extra.test", apps: ["app-b"] } };
  },
];

/** What stands before the first change. Needs pods of app-a and app-b, four each. */
export function writeBeginning(controller: Controller, pods: Pods): URLSearchParams {
  const wanted = [
    controller.write("base.json", [ingressClass, service("app-a"), service("app-b"), service("main"), service("new")]),
    controller.write("app-a-pods.json", endpointSlices("app-a", pods.of("app-a"))),
    controller.write("app-b-pods.json", endpointSlices("app-b", pods.of("app-b"))),
    controller.write("canary-pods.json", [...endpointSlices("main", pods.of("app-a")), ...endpointSlices("new", pods.of("app-b"))]),
    controller.write("steady.json", steadyHost()),
  ];
  return new URLSearchParams(wanted.flatMap((one) => [...one]));
}

/** Applies the change of that number, waits until it is served and asks; says what was wrong with the answer. */
export async function applyAndProbe(number: number, controller: Controller, pods: Pods): Promise<string | undefined> {
  const { file, objects, probe } = kinds[number % kinds.length]!(number, pods);
  await controller.apply(file, objects);
  const { http, https } = controller.ports;
  const reply = await get({ port: probe.tls === true ? https : http, ...probe });
  return probe.apps.includes(reply.app ?? "none") ? undefined : `change ${number} (${file}): ${reply.status} from ${reply.app}`;
}
