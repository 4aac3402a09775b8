/**
 * Sluice beside plain nginx, on this machine, in one run.
 * usage: npm run bench -- [--json=FILE] [--quick] [--hosts=1,5000] [--rounds=N] [--seconds=N]
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { freePorts } from "../../build/free-ports.ts";
import { end } from "../../build/processes.ts";
import { Controller } from "../kit/controller.ts";
import { configMap, endpointSlices, ingress, ingressClass, service } from "../kit/manifests.ts";
import { residentBytes, workersOf } from "../kit/worker-processes.ts";
import { measureEndpointDelay, measureReloads } from "./changes.ts";
import { featureObjects, featureRoutes, hostOf, usersSecret } from "./feature-routes.ts";
import { measureHandshakes } from "./handshakes.ts";
import { backendConfiguration, plainConfiguration, type RunningNginx, startNginx } from "./plain-nginx.ts";
import { type BenchReport, type Memory, printReport } from "./report.ts";
import { type Row, runRounds } from "./rounds.ts";
import { measureStreams } from "./streams.ts";
import { prepareWrk } from "./wrk.ts";

const backendAddress = "127.42.0.1";

interface Plan {
  readonly hosts: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  readonly featureSeconds: number;
  readonly changes: number;
  readonly endpointChanges: number;
  /** Of each kind in a round. */
  readonly handshakes: number;
  /** The same, of TCP services. */
  readonly connections: number;
}

function plan(quick: boolean, given: { readonly hosts?: string; readonly rounds?: string; readonly seconds?: string }): Plan {
  const usual = quick
    ? { hosts: [1, 200], rounds: 2, seconds: 1, featureSeconds: 1, changes: 20, endpointChanges: 4, handshakes: 80, connections: 400 }
    : { hosts: [1, 5000], rounds: 7, seconds: 4, featureSeconds: 1, changes: 200, endpointChanges: 40, handshakes: 800, connections: 4000 };
  return {
    ...usual,
    hosts: given.hosts?.split(",").map(Number) ?? usual.hosts,
    rounds: Number(given.rounds ?? usual.rounds),
    seconds: Number(given.seconds ?? usual.seconds),
  };
}

/** Every host has a Service of its own; all of them lead to the one backend. */
async function startSluice(hosts: readonly string[], backendPort: number, flags: readonly string[]): Promise<Controller> {
  const controller = await Controller.create(flags);
  const pod = { address: backendAddress, port: backendPort };
  controller.write("settings.json", [ingressClass, configMap({ "worker-processes": "1" })]);
  controller.write(
    "hosts.json",
    hosts.flatMap((host, index) => {
      const name = `app-${index}`;
      return [service(name), ...endpointSlices(name, [pod]), ingress(name, { host })];
    }),
  );
  await controller.start();
  return controller;
}

async function compare(count: number, backend: RunningNginx, what: Plan, dir: string): Promise<{ rows: readonly Row[]; memory: Memory }> {
  const hosts = Array.from({ length: count }, (_, index) => `host-${index}.bench.test`);
  const [plainPort] = (await freePorts(1)) as [number];
  const plain = await startNginx(plainPort, (at) => plainConfiguration(at, plainPort, `${backendAddress}:${backend.port}`, hosts));
  const controller = await startSluice(hosts, backend.port, []);
  const unmetered = await startSluice(hosts, backend.port, ["--enable-metrics=false"]);
  try {
    const worker = await onlyWorker(controller);
    const targets = [
      { name: "plain nginx", port: plainPort, worker: plain.worker },
      { name: "Sluice", port: controller.ports.http, worker },
      { name: "Sluice, metrics off", port: unmetered.ports.http, worker: await onlyWorker(unmetered) },
    ];
    const wrk = prepareWrk(
      dir,
      `hosts-${count}`,
      hosts.map((host) => ({ host })),
    );
    // Warm up until each host has been asked, so that the rounds measure the steady state.
    for (const target of targets) for (let asked = 0; asked < 2 * count; ) asked += (await wrk.run(target.port, 1)).requests;
    const rows = await runRounds(targets, count, what.rounds, ({ port }) => wrk.run(port, what.seconds));
    const memory = { hosts: count, sluiceBytes: residentBytes(worker), plainBytes: residentBytes(plain.worker) };
    return { rows, memory };
  } finally {
    await controller.stop();
    await unmetered.stop();
    await end(plain.process);
  }
}

async function onlyWorker(controller: Controller): Promise<number> {
  const [worker, ...others] = workersOf((await controller.state()).nginxPid);
  if (worker === undefined || others.length > 0) throw new Error("Sluice's nginx must have one worker; is worker-processes obeyed?");
  return worker;
}

/** One controller, one route a feature; every round loads each of them once. */
async function measureFeatures(backend: RunningNginx, what: Plan, dir: string): Promise<readonly Row[]> {
  const pod = { address: backendAddress, port: backend.port };
  const routes = featureRoutes(pod);
  const controller = await Controller.create();
  const settings = { "worker-processes": "1", "annotations-risk-level": "Critical" };
  controller.write("settings.json", [ingressClass, configMap(settings), usersSecret]);
  controller.write(
    "features.json",
    routes.flatMap((route, index) => featureObjects(route, index, pod)),
  );
  await controller.start();
  try {
    const worker = await onlyWorker(controller);
    const targets = routes.map(({ name }) => ({ name, port: controller.ports.http, worker }));
    const loads = new Map(
      routes.map(({ name, path, headers }, index) => {
        const request = { host: hostOf(index), ...(path === undefined ? {} : { path }), ...(headers === undefined ? {} : { headers }) };
        return [name, prepareWrk(dir, `feature-${index}`, [request])];
      }),
    );
    for (const { name, port } of targets) {
      const { errors } = await loads.get(name)!.run(port, 1);
      if (errors > 0) throw new Error(`${name}: ${errors} requests failed`);
    }
    return await runRounds(targets, 1, what.rounds, ({ name, port }) => loads.get(name)!.run(port, what.featureSeconds));
  } finally {
    await controller.stop();
  }
}

async function main(): Promise<void> {
  const text = { type: "string" } as const;
  const options = { json: text, hosts: text, rounds: text, seconds: text, quick: { type: "boolean" } } as const;
  const { values } = parseArgs({ options });
  const what = plan(values.quick === true, values);
  const dir = mkdtempSync(resolve(tmpdir(), "sluice-bench-"));
  const [backendPort] = (await freePorts(1, backendAddress)) as [number];
  const backend = await startNginx(backendPort, (at) => backendConfiguration(at, backendAddress, backendPort));
  const rows: Row[] = [];
  const memory: Memory[] = [];
  const features: Row[] = [];
  try {
    for (const count of what.hosts) {
      console.log(`comparing with ${count} hosts: ${what.rounds} rounds of ${what.seconds} s each …`);
      const result = await compare(count, backend, what, dir);
      rows.push(...result.rows);
      memory.push(result.memory);
    }
    console.log("comparing routes with one feature each …");
    features.push(...(await measureFeatures(backend, what, dir)));
  } finally {
    await end(backend.process);
    rmSync(dir, { recursive: true, force: true });
  }
  console.log(`making ${what.rounds} rounds of ${what.handshakes} TLS handshakes of each kind …`);
  const handshakes = await measureHandshakes(what.rounds, what.handshakes);
  console.log(`making ${what.rounds} rounds of ${what.connections} TCP connections of each kind …`);
  const streams = await measureStreams(what.rounds, what.connections);
  console.log(`making ${what.changes} ordinary changes …`);
  const reloads = await measureReloads(what.changes);
  console.log(`moving an endpoint ${what.endpointChanges} times …`);
  const endpointDelay = await measureEndpointDelay(what.endpointChanges);
  const machine = { cpus: cpus().length, model: cpus()[0]?.model ?? "unknown", node: process.version };
  const report: BenchReport = {
    machine,
    at: new Date().toISOString(),
    rows,
    memory,
    features,
    handshakes,
    streams,
    reloads,
    endpointDelay,
  };
  printReport(report);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
}

await main();
