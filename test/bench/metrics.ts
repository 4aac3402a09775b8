/**
 * What request metrics miss (nothing, is the promise), and what a scrape of many sets of labels costs.
 * usage: npm run bench:metrics -- [--seconds=N] [--sets=N] [--only=count|scrape]
 */

import { parseArgs } from "node:util";
import { freePorts } from "../../build/free-ports.ts";
import { end } from "../../build/processes.ts";
import { Controller } from "../kit/controller.ts";
import type { KubeObject } from "../kit/fixtures/objects.ts";
import { configMap, ingressClass } from "../kit/manifests.ts";
import { type CountRow, countObjects, countSettings, measureCounts } from "./metrics-count.ts";
import { measureScrape, type ScrapeRow, scrapeObjects } from "./metrics-scrape.ts";
import { backendConfiguration, startNginx } from "./plain-nginx.ts";

const backendAddress = "127.42.0.2";

async function withController<T>(objects: readonly KubeObject[], use: (controller: Controller) => Promise<T>): Promise<T> {
  const controller = await Controller.create(["--enable-metrics", "--sync-rate-limit=2"]);
  controller.write("settings.json", [ingressClass, configMap(countSettings)]);
  controller.write("objects.json", objects);
  await controller.start();
  try {
    return await use(controller);
  } finally {
    await controller.stop();
  }
}

function printCount({ what, requestsPerSecond, sent, counted, reloads, cpuMicroseconds }: CountRow): void {
  const verdict = sent === counted ? "all counted" : `${sent - counted} NOT COUNTED`;
  const cost = cpuMicroseconds === undefined ? "" : ` (${cpuMicroseconds.toFixed(1)} µs of its worker each)`;
  const more = reloads > 0 ? `, ${reloads} reloads` : cost;
  console.log(`${what}: ${requestsPerSecond.toFixed(0)} requests/s${more}; sent ${sent}, counted ${counted}: ${verdict}`);
}

function printScrape({ labelSets, bytes, seconds, worstSeconds, cpuSeconds, idleLagMs, deliveryLagMs, lagMs }: ScrapeRow): void {
  console.log(
    `/metrics with ${labelSets} sets of labels: ${(bytes / 1e6).toFixed(1)} MB in ${seconds.toFixed(2)} s (at most ${worstSeconds.toFixed(2)} s), ${cpuSeconds.toFixed(2)} s of it on a processor; ` +
      `longest delay of the controller's event loop ${lagMs.toFixed(0)} ms, ` +
      `${deliveryLagMs.toFixed(0)} ms while all sets are delivered each second, ${idleLagMs.toFixed(0)} ms when idle`,
  );
}

async function main(): Promise<void> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ options: { seconds: text, sets: text, only: text } });
  const seconds = Number(values.seconds ?? 10);
  const sets = Number(values.sets ?? 10_000);
  const [port] = (await freePorts(1, backendAddress)) as [number];
  const backend = await startNginx(port, (at) => backendConfiguration(at, backendAddress, port));
  const pod = { address: backendAddress, port };
  try {
    if (values.only !== "scrape") {
      const rows = await withController(countObjects(pod), (controller) => measureCounts(controller, seconds));
      for (const row of rows) printCount(row);
      if (rows.some(({ sent, counted }) => sent !== counted)) process.exitCode = 1;
    }
    if (values.only !== "count")
      printScrape(await withController(scrapeObjects(sets, pod), (controller) => measureScrape(controller, sets)));
  } finally {
    await end(backend.process);
  }
}

await main();
