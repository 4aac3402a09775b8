import { afterAll, beforeAll, expect, test } from "vitest";
import { selfSigned } from "../kit/certificates.ts";
import { type Call, get } from "../kit/client.ts";
import { Controller } from "../kit/controller.ts";
import type { KubeObject } from "../kit/fixtures/objects.ts";
import { startLoad } from "../kit/load.ts";
import { endpointSlices, ingress, ingressClass, service, tlsSecret } from "../kit/manifests.ts";
import { type Pods, startPods } from "../kit/pods.ts";

const changes = 200;

let controller: Controller;
let pods: Pods;

beforeAll(async () => {
  pods = await startPods({ "app-a": 4, "app-b": 4 }, true);
  controller = await Controller.create();
  controller.write("base.json", [ingressClass, service("app-a"), service("app-b")]);
  controller.write("app-a-pods.json", endpointSlices("app-a", pods.of("app-a")));
  controller.write("app-b-pods.json", endpointSlices("app-b", pods.of("app-b")));
  controller.write("steady.json", steadyHost());
  await controller.start();
});

afterAll(async () => {
  await controller?.stop();
  await pods?.stop();
});

/** Served over http and https, each time with another certificate. */
function steadyHost(): readonly KubeObject[] {
  const made = selfSigned("steady.test");
  const paths = { "/": "app-a", "/b": "app-b" };
  return [
    ingress("steady", { host: "steady.test", paths, tlsSecret: "steady", annotations: { "ssl-redirect": "false" } }),
    tlsSecret("steady", made.certificate, made.key),
  ];
}

interface Change {
  readonly file: string;
  readonly objects: readonly KubeObject[];
  /** Once the change is applied, one of these apps answers here. */
  readonly probe: { readonly host: string; readonly path?: string; readonly tls?: boolean; readonly apps: readonly string[] };
}

/** One function a kind of change; each number gives other contents. */
const kinds: readonly ((number: number) => Change)[] = [
  function host(number) {
    const name = `host-${number}`;
    const objects = [ingress(name, { host: `${name}.test`, paths: { "/": "app-b" } })];
    return { file: `${name}.json`, objects, probe: { host: `${name}.test`, apps: ["app-b"] } };
  },
  function path(number) {
    const objects = [ingress("paths", { host: "paths.test", paths: { "/": "app-a", [`/p${number}`]: "app-b" } })];
    return { file: "paths.json", objects, probe: { host: "paths.test", path: `/p${number}/x`, apps: ["app-b"] } };
  },
  function endpoints(number) {
    const all = pods.of("app-a");
    const objects = endpointSlices("app-a", number % 2 === 0 ? all.slice(0, 2) : all.slice(1));
    return { file: "app-a-pods.json", objects, probe: { host: "steady.test", apps: ["app-a"] } };
  },
  function certificate() {
    return { file: "steady.json", objects: steadyHost(), probe: { host: "steady.test", tls: true, apps: ["app-a"] } };
  },
  function canaryWeight(number) {
    const annotations = { canary: "true", "canary-weight": String(number % 100) };
    const objects = [
      ingress("canary-main", { host: "canary.test", paths: { "/": "app-a" } }),
      ingress("canary-new", { host: "canary.test", paths: { "/": "app-b" }, annotations }),
    ];
    return { file: "canary.json", objects, probe: { host: "canary.test", apps: ["app-a", "app-b"] } };
  },
  function timeout(number) {
    const annotations = { "proxy-read-timeout": String(20 + number), "proxy-connect-timeout": String(1 + (number % 30)) };
    const objects = [ingress("timeouts", { host: "timeouts.test", paths: { "/": "app-a" }, annotations })];
    return { file: "timeouts.json", objects, probe: { host: "timeouts.test", apps: ["app-a"] } };
  },
  function newService(number) {
    const name = `extra-${number}`;
    const slices = endpointSlices(name, pods.of("app-b").slice(0, 1 + (number % 3)));
    return {
      file: "extra.json",
      objects: [service(name), ...slices, ingress(name, { host: "extra.test" })],
      probe: { host: "extra.test", apps: ["app-b"] },
    };
  },
];

/** Applies the change; says what was wrong with the answer to its probe. */
async function applyAndProbe(number: number): Promise<string | undefined> {
  const { file, objects, probe } = kinds[number % kinds.length]!(number);
  await controller.apply(file, objects);
  const { http, https } = controller.ports;
  const reply = await get({ port: probe.tls === true ? https : http, ...probe });
  return probe.apps.includes(reply.app ?? "none") ? undefined : `change ${number} (${file}): ${reply.status} from ${reply.app}`;
}

test(`${changes} ordinary changes under load: no reload, no failed request`, { timeout: 300_000 }, async () => {
  const { http, https } = controller.ports;
  const before = await controller.state();
  const calls: readonly Call[] = [
    { port: http, host: "steady.test" },
    { port: http, host: "steady.test", path: "/b" },
    { port: https, host: "steady.test", tls: true },
  ];
  const judge = (reply: { readonly status: number; readonly app?: string }, call: Call): string | undefined =>
    reply.app === (call.path === "/b" ? "app-b" : "app-a") ? undefined : `status ${reply.status} from ${reply.app}`;
  const load = startLoad({ calls, judge });
  const wrong: string[] = [];
  for (let number = 0; number < changes; number++) {
    const problem = await applyAndProbe(number);
    if (problem !== undefined) wrong.push(problem);
  }
  await load.more(50);
  const report = await load.stop();
  const after = await controller.state();
  expect(wrong).toEqual([]);
  expect(report.failures).toEqual({});
  expect(report.requests).toBeGreaterThan(changes);
  expect(after.reloads, after.reloadReasons.join("\n")).toBe(before.reloads);
  expect(after.nginxPid).toBe(before.nginxPid);
  expect(after.version).toBeGreaterThanOrEqual(before.version + changes);
});
