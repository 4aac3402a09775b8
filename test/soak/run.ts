/** One soak: world, load, changes, samples, report. */

import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { layoutOf } from "../../control/run/layout.ts";
import type { StateDocument } from "../../lua-src/wire.ts";
import { eventually } from "../cluster/control-plane.ts";
import { writeObject } from "../cluster/stored-object.ts";
import { get } from "../kit/client.ts";
import { request } from "../kit/data-plane.ts";
import { workersOf } from "../kit/worker-processes.ts";
import { endRole, nextMessage, spawnRole } from "./child-process.ts";
import { type Churn, startChurn } from "./churn.ts";
import type { LoadReport } from "./load.ts";
import { growthOf, memoryOf, type Series } from "./memory.ts";
import { brokenPromises, printReport, type SoakReport } from "./report.ts";
import { hostOf, services } from "./services.ts";
import { SoakWorld } from "./world.ts";

export interface SoakOptions {
  readonly minutes: number;
  readonly changesPerSecond: number;
  readonly seed: number;
  /** The program of etcd and kube-apiserver. */
  readonly kube: string;
}

const sampleMs = 5000;

/** The same numbers for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Sums over all labels. */
interface Totals {
  readonly requests: number;
  readonly syncs: number;
  readonly spans: number;
}

async function totals(world: SoakWorld): Promise<Totals> {
  const text = await world.metrics();
  const sum = (name: string): number =>
    [...text.matchAll(new RegExp(`^nginx_ingress_controller_${name}\\{.*\\} (\\S+)$`, "gm"))].reduce((all, one) => all + Number(one[1]), 0);
  return { requests: sum("requests"), syncs: sum("sync_seconds_count"), spans: world.spans };
}

/** Workers deliver once a second: what they have counted is in when nothing has come for some of them. */
async function settledTotals(world: SoakWorld): Promise<Totals> {
  let last = await totals(world);
  for (;;) {
    await pause(3000);
    const now = await totals(world);
    if (now.requests === last.requests && now.spans === last.spans) return now;
    last = now;
  }
}

async function dictionaries(world: SoakWorld): Promise<StateDocument["free"]> {
  const { socket } = layoutOf(join(world.folder, "run"));
  return (JSON.parse((await request({ socketPath: socket, path: "/configuration/state" })).body) as StateDocument).free;
}

async function untilServed(): Promise<void> {
  for (const { name, canaryOf, protocol } of services) {
    if (canaryOf !== undefined || protocol === "grpc") continue;
    await eventually(`${name} is served`, async () => (await get({ port: 80, host: hostOf(name) })).status === 200);
  }
}

class Recorder {
  readonly #workers: readonly number[];
  readonly #controller: number;
  readonly #begun = performance.now();
  readonly series: Series[] = [];

  constructor(workers: readonly number[], controller: number) {
    this.#workers = workers;
    this.#controller = controller;
    for (const index of workers.keys()) {
      this.series.push({ name: `worker ${index + 1}, resident`, promised: true, samples: [] });
      this.series.push({ name: `worker ${index + 1}, its own`, promised: false, samples: [] });
    }
    this.series.push({ name: "controller, resident", promised: false, samples: [] });
  }

  sample(): void {
    const seconds = (performance.now() - this.#begun) / 1000;
    const figures = this.#workers.map(memoryOf).flatMap(({ resident, own }) => [resident, own]);
    figures.push(memoryOf(this.#controller).resident);
    for (const [index, bytes] of figures.entries()) this.series[index]!.samples.push({ seconds, bytes });
  }

  latest(): string {
    return this.series.map(({ name, samples }) => `${name} ${(samples.at(-1)!.bytes / 1024 / 1024).toFixed(1)}`).join(", ");
  }
}

async function follow(world: SoakWorld, churn: Churn, recorder: Recorder, isOver: () => boolean): Promise<void> {
  for (let sample = 1; !isOver(); sample++) {
    recorder.sample();
    const last = world.obituary();
    if (last !== undefined) throw new Error(`the controller ended: ${last}`);
    if (sample % 12 === 0) console.log(`${sample / 12} min: ${churn.written} changes; MB: ${recorder.latest()}`);
    await pause(sampleMs);
  }
}

async function loadAndChange(world: SoakWorld, churn: Churn, options: SoakOptions, isStopped: () => boolean): Promise<SoakReport> {
  await untilServed();
  const before = { state: await world.state(), free: await dictionaries(world), totals: await settledTotals(world) };
  const workers = workersOf(before.state.nginxPid);
  const recorder = new Recorder(workers, world.controllerPid);
  const load = spawnRole("load");
  const begun = performance.now();
  const end = begun + options.minutes * 60_000;
  const isOver = (): boolean => isStopped() || performance.now() >= end;
  load.send({ kind: "start" });
  await Promise.all([churn.run(options.changesPerSecond, isOver), follow(world, churn, recorder, isOver)]);
  const minutes = (performance.now() - begun) / 60_000;
  await churn.settle();
  const reported = nextMessage(load);
  load.send({ kind: "stop" });
  const clients = (await reported) as LoadReport;
  await endRole(load);
  const after = { state: await world.state(), free: await dictionaries(world), totals: await settledTotals(world) };
  return {
    minutes,
    load: clients,
    late: world.lateRequests(),
    changes: churn.written,
    changesWanted: Math.floor(minutes * 60 * options.changesPerSecond),
    syncs: after.totals.syncs - before.totals.syncs,
    reloads: after.state.reloads - before.state.reloads,
    counted: after.totals.requests - before.totals.requests,
    spans: after.totals.spans - before.totals.spans,
    newWorkers: workersOf(after.state.nginxPid).filter((pid) => !workers.includes(pid)).length,
    growth: growthOf(recorder.series),
    free: Object.entries(after.free).map(([name, bytes]) => ({ name, before: before.free[name] ?? 0, after: bytes })),
  };
}

/** True when every promise was kept. */
export async function runSoak(options: SoakOptions): Promise<boolean> {
  let stopped = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      stopped = true;
    });
  }
  const world = new SoakWorld(options.kube);
  try {
    await world.start();
    const churn = await startChurn(services, {
      openPod: (address, service) => world.openPod(address, service),
      closePod: (address) => world.closePod(address),
      writeSlice: async (slice) => void (await writeObject(slice)),
      random: randomFrom(options.seed),
    });
    console.log(`${options.minutes} min of load with ${options.changesPerSecond} endpoint changes a second …`);
    const report = await loadAndChange(world, churn, options, () => stopped);
    printReport(report);
    const broken = brokenPromises(report);
    for (const promise of broken) console.log(`BROKEN: ${promise}`);
    if (broken.length === 0) console.log("all promises kept");
    return broken.length === 0;
  } finally {
    await world.stop();
  }
}
