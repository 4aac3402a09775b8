import { afterAll, beforeAll, expect, test } from "vitest";
import type { Call, Reply } from "../kit/client.ts";
import { Controller } from "../kit/controller.ts";
import { startLoad } from "../kit/load.ts";
import { applyAndProbe, writeBeginning } from "../kit/ordinary-changes.ts";
import { type Pods, startPods } from "../kit/pods.ts";

const changes = 200;

let controller: Controller;
let pods: Pods;

beforeAll(async () => {
  pods = await startPods({ "app-a": 4, "app-b": 4 }, true);
  controller = await Controller.create();
  writeBeginning(controller, pods);
  await controller.start();
});

afterAll(async () => {
  await controller?.stop();
  await pods?.stop();
});

function judge(reply: Reply, call: Call): string | undefined {
  return reply.app === (call.path === "/b" ? "app-b" : "app-a") ? undefined : `status ${reply.status} from ${reply.app}`;
}

test(`${changes} ordinary changes under load: no reload, no failed request`, { timeout: 300_000 }, async () => {
  const { http, https } = controller.ports;
  const before = await controller.state();
  const calls: readonly Call[] = [
    { port: http, host: "steady.test" },
    { port: http, host: "steady.test", path: "/b" },
    { port: https, host: "steady.test", tls: true },
  ];
  const load = startLoad({ calls, judge });
  const wrong: string[] = [];
  for (let number = 0; number < changes; number++) {
    const problem = await applyAndProbe(number, controller, pods);
    if (problem !== undefined) wrong.push(problem);
  }
  await load.more(50);
  const report = await load.stop();
  const after = await controller.state();
  expect(wrong).toEqual([]);
  expect(report.failures).toEqual({});
  expect(report.requests).toBeGreaterThan(changes);
  expect(after.reloads, after.reloadReasons.map(({ reason }) => reason).join("\n")).toBe(before.reloads);
  expect(after.nginxPid).toBe(before.nginxPid);
  expect(after.version).toBeGreaterThanOrEqual(before.version + changes);
});
