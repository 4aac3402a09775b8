/** What changes cost: reloads of ordinary ones, and the time until an endpoint change is served. */

import { get, keepAliveAgent } from "../kit/client.ts";
import { Controller } from "../kit/controller.ts";
import { endpointSlices, ingress, ingressClass, service } from "../kit/manifests.ts";
import { applyAndProbe, writeBeginning } from "../kit/ordinary-changes.ts";
import { startPods } from "../kit/pods.ts";
import { median } from "./rounds.ts";

export interface ReloadCost {
  readonly changes: number;
  readonly reloads: number;
  /** Changes that were not served as they should. */
  readonly wrong: readonly string[];
  readonly seconds: number;
}

export async function measureReloads(changes: number): Promise<ReloadCost> {
  const pods = await startPods({ "app-a": 4, "app-b": 4 }, true);
  const controller = await Controller.create();
  try {
    writeBeginning(controller, pods);
    await controller.start();
    const before = await controller.state();
    const begun = performance.now();
    const wrong: string[] = [];
    for (let number = 0; number < changes; number++) {
      const problem = await applyAndProbe(number, controller, pods);
      if (problem !== undefined) wrong.push(problem);
    }
    const seconds = (performance.now() - begun) / 1000;
    return { changes, reloads: (await controller.state()).reloads - before.reloads, wrong, seconds };
  } finally {
    await controller.stop();
    await pods.stop();
  }
}

export interface EndpointDelay {
  readonly medianMs: number;
  readonly maxMs: number;
  readonly times: readonly number[];
}

/** From the rename of the manifest to the first answer of the pod that it names. */
export async function measureEndpointDelay(times: number): Promise<EndpointDelay> {
  const pods = await startPods({ app: 2 });
  const controller = await Controller.create();
  const agent = keepAliveAgent(false);
  try {
    const [first, second] = pods.of("app");
    controller.write("all.json", [ingressClass, service("app"), ingress("app", { host: "app.test" })]);
    controller.write("pods.json", endpointSlices("app", [first!]));
    await controller.start();
    const delays: number[] = [];
    for (let time = 0; time < times; time++) {
      const next = time % 2 === 0 ? second! : first!;
      const begun = performance.now();
      controller.write("pods.json", endpointSlices("app", [next]));
      while ((await get({ port: controller.ports.http, host: "app.test", agent })).pod !== next.name);
      delays.push(performance.now() - begun);
    }
    return { medianMs: median(delays), maxMs: Math.max(...delays), times: delays };
  } finally {
    agent.destroy();
    await controller.stop();
    await pods.stop();
  }
}
