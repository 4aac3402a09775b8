import { afterEach, beforeEach, expect, test } from "vitest";
import { selfSigned } from "../kit/certificates.ts";
import { type Call, get } from "../kit/client.ts";
import { Controller, eventually } from "../kit/controller.ts";
import { startLoad } from "../kit/load.ts";
import { endpointSlices, ingress, ingressClass, service, tlsSecret } from "../kit/manifests.ts";
import { type Pods, startPods } from "../kit/pods.ts";
import { workersOf } from "../kit/worker-processes.ts";

let controller: Controller;
let pods: Pods;

beforeEach(async () => {
  pods = await startPods({ "app-a": 2, "app-b": 2 });
  controller = await Controller.create();
  const made = selfSigned("a.test");
  controller.write("all.json", [
    ingressClass,
    ...["app-a", "app-b"].flatMap((app) => [service(app), ...endpointSlices(app, pods.of(app))]),
    ingress("a", { host: "a.test", paths: { "/": "app-a" }, tlsSecret: "a", annotations: { "ssl-redirect": "false" } }),
    ingress("b", { host: "b.test", paths: { "/": "app-b" } }),
    tlsSecret("a", made.certificate, made.key),
  ]);
  await controller.start();
});

afterEach(async () => {
  await controller?.stop();
  await pods?.stop();
});

/** Every way in: plain, another host, TLS with the host's own certificate, nobody's host. */
async function servesAll(): Promise<boolean> {
  const { http, https } = controller.ports;
  const a = await get({ port: http, host: "a.test" });
  const b = await get({ port: http, host: "b.test" });
  const secure = await get({ port: https, host: "a.test", tls: true });
  const nobody = await get({ port: http, host: "nobody.test" });
  return (
    a.app === "app-a" && b.app === "app-b" && secure.app === "app-a" && secure.certificate?.subject === "a.test" && nobody.status === 404
  );
}

/** Many times in a row, each over new connections, so that every worker has its turn. */
async function servesAllSteadily(): Promise<void> {
  for (let i = 0; i < 25; i++) expect(await servesAll()).toBe(true);
}

async function takesChanges(mark: string): Promise<void> {
  await controller.apply("later.json", [ingress("later", { host: `${mark}.test`, paths: { "/": "app-b" } })]);
  expect((await get({ port: controller.ports.http, host: `${mark}.test` })).app).toBe("app-b");
}

test("kill -9 of a worker: another takes over with all it knew", { timeout: 120_000 }, async () => {
  const { nginxPid } = await controller.state();
  const killed = workersOf(nginxPid);
  expect(killed.length).toBeGreaterThan(0);
  for (const pid of killed) process.kill(pid, "SIGKILL");
  await eventually("new workers run", () => workersOf(nginxPid).filter((pid) => !killed.includes(pid)).length === killed.length);
  await eventually("traffic is back", servesAll);
  await servesAllSteadily();
  await takesChanges("worker");
  expect((await controller.state()).nginxPid).toBe(nginxPid);
});

test("kill -9 of the nginx master: the controller starts another one and fills it", { timeout: 120_000 }, async () => {
  const load = startLoad({ calls: [{ port: controller.ports.http, host: "b.test" }] });
  await load.more(50);
  await controller.killNginx();
  await load.more(50);
  const { failures } = await load.stop();
  // the new one starts beside the workers of the old one; what those had not accepted yet is lost
  expect(Object.keys(failures)).not.toContainEqual(expect.stringContaining("ECONNREFUSED"));
  await eventually("traffic is back", servesAll);
  await servesAllSteadily();
  await takesChanges("master");
});

test("kill -9 of the controller: nginx serves on, and the next controller takes over without a lost request", {
  timeout: 120_000,
}, async () => {
  const { http, https } = controller.ports;
  const calls: readonly Call[] = [
    { port: http, host: "a.test" },
    { port: http, host: "b.test" },
    { port: https, host: "a.test", tls: true },
  ];
  const load = startLoad({ calls });
  await load.more(50);
  await controller.kill();
  await servesAllSteadily();
  await load.more(50);
  await controller.start();
  await servesAllSteadily();
  await takesChanges("controller");
  await load.more(50);
  const { failures } = await load.stop();
  expect(failures).toEqual({});
});
