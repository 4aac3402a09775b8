/**
 * Whether the request metrics miss anything: what clients sent and nginx logged, beside what /metrics says, at the
 * highest rate that this machine gives one worker, while sets of labels come and go, and across reloads.
 */

import { execFile } from "node:child_process";
import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import type { Controller } from "../kit/controller.ts";
import type { KubeObject } from "../kit/fixtures/objects.ts";
import { configMap, endpointSlices, ingress, ingressClass, type PodAddress, service } from "../kit/manifests.ts";
import { cpuNanoseconds, workersOf } from "../kit/worker-processes.ts";
import { prepareWrk } from "./wrk.ts";

export interface CountRow {
  readonly what: string;
  readonly requestsPerSecond: number;
  /** By the client that sent them, or by nginx's access log. */
  readonly sent: number;
  readonly counted: number;
  readonly reloads: number;
  /** Of the worker, for each request; undefined where workers changed. */
  readonly cpuMicroseconds?: number;
}

const steadyHosts = 20;
const passingHosts = 40;

export const countSettings = { "worker-processes": "1", "keep-alive-requests": "100000000" };

/** What stands: hosts of one Service, and one that nginx itself answers. */
export function countObjects(pod: PodAddress): readonly KubeObject[] {
  const hosts = Array.from({ length: steadyHosts }, (_, index) =>
    ingress(`steady-${index}`, { host: `steady-${index}.bench.test`, paths: { "/": "steady" } }),
  );
  const answered = { "permanent-redirect": "https://elsewhere.test/" };
  return [
    ...[service("steady"), ...endpointSlices("steady", [pod]), service("passing"), ...endpointSlices("passing", [pod])],
    ...hosts,
    ingress("answered", { host: "answered.bench.test", paths: { "/": "steady" }, annotations: answered }),
  ];
}

/** Sum of nginx_ingress_controller_requests over the series whose labels hold the text. */
export async function countedRequests(controller: Controller, labels: string): Promise<number> {
  const text = await (await fetch(controller.url("/metrics"))).text();
  return text
    .split("\n")
    .filter((line) => line.startsWith("nginx_ingress_controller_requests{") && line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

/** Workers deliver once a second; those that leave hand over to the next. */
async function settledRequests(controller: Controller, labels: string): Promise<number> {
  let last = await countedRequests(controller, labels);
  for (;;) {
    await pause(3000);
    const now = await countedRequests(controller, labels);
    if (now === last) return now;
    last = now;
  }
}

async function loggedLines(controller: Controller, text: string): Promise<number> {
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(resolve(controller.logDir, "access.log")) })) {
    if (line.includes(text)) count += 1;
  }
  return count;
}

/** A fixed number of requests over 16 kept connections: what the client counts is what was sent. */
async function fixedNumber(controller: Controller, what: string, host: string, requests: number): Promise<CountRow> {
  const ingressName = host.split(".")[0]!;
  const labels = `ingress="${ingressName}"`;
  const before = await settledRequests(controller, labels);
  const args = ["--h1", `--requests=${requests}`, "--clients=16", "--threads=1", `--connect-to=127.0.0.1:${controller.ports.http}`];
  const [worker] = workersOf((await controller.state()).nginxPid);
  const cpu = cpuNanoseconds(worker!);
  const { stdout } = await promisify(execFile)("h2load", [...args, `http://${host}/`]);
  const cpuMicroseconds = (cpuNanoseconds(worker!) - cpu) / 1000 / requests;
  const [, seconds, unit] = /finished in ([\d.]+)(m?s)/.exec(stdout)!;
  const sent = /status codes: (\d+) 2xx, (\d+) 3xx/.exec(stdout)!;
  const done = Number(sent[1]) + Number(sent[2]);
  if (done !== requests) throw new Error(`${what}: ${done} of ${requests} requests were answered as they should: ${stdout}`);
  const took = Number(seconds) / (unit === "ms" ? 1000 : 1);
  const counted = (await settledRequests(controller, labels)) - before;
  return { what, requestsPerSecond: done / took, sent: done, counted, reloads: 0, cpuMicroseconds };
}

/** Load on the steady hosts and, where `passing`, on some that come and go, while `meanwhile` happens again and again. */
async function timed(
  controller: Controller,
  what: string,
  seconds: number,
  passing: boolean,
  meanwhile: (turn: number) => Promise<void>,
): Promise<CountRow> {
  const [labels, logged] = ['ingress="steady-', "[default-steady-http]"];
  const before = { counted: await settledRequests(controller, labels), sent: await loggedLines(controller, logged) };
  const { reloads } = await controller.state();
  const names = Array.from({ length: passing ? passingHosts : 0 }, (_, index) => `passing-${index}.bench.test`);
  const hosts = [...Array.from({ length: steadyHosts }, (_, index) => `steady-${index}.bench.test`), ...names];
  const wrk = prepareWrk(
    controller.dir,
    `count-${passing}`,
    hosts.map((host) => ({ host })),
  );
  let over = false;
  const load = wrk.run(controller.ports.http, seconds).finally(() => {
    over = true;
  });
  for (let turn = 0; !over; turn++) await meanwhile(turn);
  const { requests } = await load;
  return {
    what,
    requestsPerSecond: requests / seconds,
    counted: (await settledRequests(controller, labels)) - before.counted,
    sent: (await loggedLines(controller, logged)) - before.sent,
    reloads: (await controller.state()).reloads - reloads,
  };
}

function passingObjects(turn: number): readonly KubeObject[] {
  return Array.from({ length: passingHosts / 2 }, (_, index) => {
    const number = (turn * 7 + index) % passingHosts;
    return ingress(`passing-${number}`, { host: `passing-${number}.bench.test`, paths: { "/": "passing" } });
  });
}

/** `controller` serves countObjects with countSettings. */
export async function measureCounts(controller: Controller, seconds: number): Promise<readonly CountRow[]> {
  const host = "answered.bench.test";
  await fixedNumber(controller, "", host, 20_000);
  const first = await fixedNumber(controller, "answered by nginx itself", host, 60_000 * seconds);
  const second = await fixedNumber(controller, "passed on to a backend", "steady-0.bench.test", 15_000 * seconds);
  const third = await timed(controller, "sets of labels come and go", seconds, true, (turn) =>
    controller.apply("passing.json", passingObjects(turn)),
  );
  const fourth = await timed(controller, "nginx is reloaded again and again", seconds, false, async (turn) => {
    const settings = { ...countSettings, "variables-hash-max-size": String(2048 + turn) };
    await controller.apply("settings.json", [ingressClass, configMap(settings)]);
  });
  return [first, second, third, fourth];
}
