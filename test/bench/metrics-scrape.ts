/** How long /metrics takes with thousands of sets of labels, and how long it keeps the controller from anything else. */

import { execFile } from "node:child_process";
import { open } from "node:fs/promises";
import { setPriority } from "node:os";
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { type Controller, eventually } from "../kit/controller.ts";
import type { KubeObject } from "../kit/fixtures/objects.ts";
import { endpointSlices, type PodAddress, service } from "../kit/manifests.ts";
import { cpuNanoseconds } from "../kit/worker-processes.ts";
import { median } from "./rounds.ts";
import { prepareWrk } from "./wrk.ts";

export interface ScrapeRow {
  readonly labelSets: number;
  readonly bytes: number;
  /** Median and worst of six. */
  readonly seconds: number;
  readonly worstSeconds: number;
  /** Of the controller's main thread, median. */
  readonly cpuSeconds: number;
  /** Longest delay of the event loop, as the controller itself measures it (prom-client; an idle loop shows 10 ms). */
  readonly idleLagMs: number;
  /** While workers deliver all the sets once a second. */
  readonly deliveryLagMs: number;
  readonly lagMs: number;
}

const hostsPerIngress = 100;

function hostName(index: number): string {
  return `set-${index}.bench.test`;
}

export function scrapeObjects(labelSets: number, pod: PodAddress): readonly KubeObject[] {
  const backend = { service: { name: "sets", port: { name: "http" } } };
  const ingresses = Array.from({ length: labelSets / hostsPerIngress }, (_, number) => ({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: `sets-${number}`, namespace: "default" },
    spec: {
      ingressClassName: "nginx",
      rules: Array.from({ length: hostsPerIngress }, (_, index) => ({
        host: hostName(number * hostsPerIngress + index),
        http: { paths: [{ path: "/", pathType: "Prefix", backend }] },
      })),
    },
  }));
  return [service("sets"), ...endpointSlices("sets", [pod]), ...ingresses];
}

interface Scrape {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly bytes: number;
  /** Longest since the scrape before. */
  readonly lagMs: number;
}

/** In a process of its own: reading it here would hold up what is measured. */
async function scrape(controller: Controller): Promise<Scrape> {
  const file = resolve(controller.dir, "scraped");
  // as Prometheus asks
  const args = ["--silent", "--compressed", "--output", file, "--write-out", "%{time_total} %{size_download}", controller.url("/metrics")];
  const before = cpuNanoseconds(controller.pid);
  const [seconds, bytes] = (await promisify(execFile)("curl", args)).stdout.split(" ").map(Number);
  const cpuSeconds = (cpuNanoseconds(controller.pid) - before) / 1e9;
  const lag = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await beginning(file))!;
  return { seconds: seconds!, cpuSeconds, bytes: bytes!, lagMs: Number(lag[1]) * 1000 };
}

async function beginning(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(65_536), 0, 65_536, 0);
    return buffer.subarray(0, bytesRead).toString();
  } finally {
    await file.close();
  }
}

/** The next scrape tells the longest delay from now on. */
async function forgetLag(controller: Controller): Promise<void> {
  const reader = (await fetch(controller.url("/metrics"))).body!.getReader();
  await reader.read();
  await reader.cancel();
}

async function countedSets(controller: Controller): Promise<number> {
  const text = await (await fetch(controller.url("/metrics"))).text();
  return text.match(/^nginx_ingress_controller_requests\{/gm)?.length ?? 0;
}

/** `controller` serves scrapeObjects. */
export async function measureScrape(controller: Controller, labelSets: number): Promise<ScrapeRow> {
  // other work on this machine must not count as a delay of the event loop
  if (process.getuid?.() === 0) setPriority(controller.pid, -15);
  const hosts = Array.from({ length: labelSets }, (_, index) => ({ host: hostName(index) }));
  const wrk = prepareWrk(controller.dir, "sets", hosts);
  await eventually("every set of labels was counted", async () => {
    await wrk.run(controller.ports.http, 2);
    return (await countedSets(controller)) >= labelSets;
  });
  await forgetLag(controller);
  await wrk.run(controller.ports.http, 5);
  const delivery = await scrape(controller);
  await forgetLag(controller);
  await pause(3000);
  const idle = await scrape(controller);
  const scrapes: Scrape[] = [];
  for (let time = 0; time < 6; time++) scrapes.push(await scrape(controller));
  // each scrape tells the delay during the one before
  const delays = scrapes.slice(1).map(({ lagMs }) => lagMs);
  const times = scrapes.map(({ seconds }) => seconds);
  return {
    labelSets,
    bytes: scrapes[0]!.bytes,
    seconds: median(times),
    cpuSeconds: median(scrapes.map((one) => one.cpuSeconds)),
    worstSeconds: Math.max(...times),
    idleLagMs: idle.lagMs,
    deliveryLagMs: delivery.lagMs,
    lagMs: Math.max(...delays),
  };
}
