/**
 * How long the admission webhook takes, in a real controller, quiet and while it applies changes.
 * usage: npm run bench:admission -- [--ingresses=50,5000] [--reviews=2000] [--in-flight=2]
 */

import { readFileSync } from "node:fs";
import { Agent } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Controller } from "../kit/controller.ts";
import type { KubeObject } from "../kit/fixtures/objects.ts";
import { configMap, endpointSlices, ingress, ingressClass, service } from "../kit/manifests.ts";
import { asCreated, reviewBody, Webhook } from "../kit/webhook.ts";

const settings = { "allow-snippet-annotations": "true", "annotations-risk-level": "Critical" };
const changesPerSecond = 5;

interface Sample {
  readonly what: string;
  readonly times: readonly number[];
}

function hostOf(index: number): string {
  return `host-${index}.bench.test`;
}

function existing(index: number, annotations: Readonly<Record<string, string>> = {}): KubeObject {
  return ingress(`app-${index}`, { host: hostOf(index), annotations: { "enable-cors": "true", ...annotations } });
}

/** The usual mix; nothing in it needs nginx. */
function ordinary(number: number, count: number): KubeObject {
  const at = (number * 7919) % count;
  const other = (paths: Record<string, string>, annotations = {}) => ingress(`other-${number}`, { host: hostOf(at), paths, annotations });
  const kinds: readonly (() => KubeObject)[] = [
    () => existing(at, { "proxy-read-timeout": String(10 + (number % 50)) }),
    () => existing(at, { "rewrite-target": "/$1", "use-regex": "true" }),
    () => ingress(`new-${number}`, { host: `new-${number}.bench.test`, paths: { "/": `app-${at}`, "/b": `app-${at}` } }),
    () => ingress(`new-${number}`, { host: `new-${number}.bench.test`, paths: { "/": "absent" } }),
    () => other({ "/more": `app-${at}` }),
    () => other({ "/": `app-${at}` }, { canary: "true", "canary-weight": "20" }),
    // refused: the path is another's, the value is none
    () => other({ "/": `app-${at}` }),
    () => existing(at, { "proxy-connect-timeout": "soon", "limit-rps": "-1" }),
  ];
  return kinds[number % kinds.length]!();
}

async function measure(
  what: string,
  webhook: Webhook,
  objects: readonly KubeObject[],
  inFlight: number,
  agent: Agent | false,
): Promise<Sample> {
  const bodies = objects.map((object) => reviewBody(asCreated(object)));
  const times: number[] = [];
  let next = 0;
  const worker = async () => {
    while (next < bodies.length) {
      const body = bodies[next++]!;
      const begun = performance.now();
      const { status, text } = await webhook.post(body, agent);
      times.push(performance.now() - begun);
      if (status !== 200) throw new Error(`${what}: ${status} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return { what, times };
}

/** Until it is stopped; resolves with the number of changes that were written. */
function changing(controller: Controller, count: number): () => Promise<number> {
  let stopped = false;
  let changes = 0;
  const run = (async () => {
    for (; !stopped; changes++) {
      const at = changes % Math.min(count, 20);
      controller.write(`change-${at}.json`, [
        ingress(`change-${at}`, { host: `change-${at}-${changes}.bench.test`, paths: { "/": "app-0" } }),
      ]);
      await pause(1000 / changesPerSecond);
    }
  })();
  return async () => {
    stopped = true;
    await run;
    return changes;
  };
}

function memory(pid: number): string {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return `${(Number(kilobytes) / 1024).toFixed(0)} MB`;
}

function print({ what, times }: Sample): void {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(1).padStart(8);
  console.log(`${what.padEnd(58)} ${String(times.length).padStart(6)} ${at(0.5)} ${at(0.99)} ${at(1)}`);
}

async function bench(count: number, reviews: number, inFlight: number): Promise<void> {
  const webhook = await Webhook.create();
  const controller = await Controller.create(webhook.flags);
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
  const pod = [{ address: "127.42.0.1", port: 9 }];
  const all = Array.from({ length: count }, (_, i) => [service(`app-${i}`), ...endpointSlices(`app-${i}`, pod), existing(i)]);
  controller.write("settings.json", [ingressClass, configMap(settings)]);
  controller.write("all.json", all.flat());
  try {
    await controller.start();
    const mix = (length: number) => Array.from({ length }, (_, i) => ordinary(i, count));
    await measure("warm", webhook, mix(200), inFlight, agent);
    console.log(
      `\n${`${count} Ingresses; memory ${memory(controller.pid)}`.padEnd(58)} ${"number".padStart(6)}   p50 ms   p99 ms   max ms`,
    );
    print(await measure("kept connections", webhook, mix(reviews), inFlight, agent));
    print(await measure("a new connection each", webhook, mix(Math.ceil(reviews / 4)), inFlight, false));
    const snippet = (text: string, i: number) =>
      ingress(`snippet-${i}`, { host: `snippet-${i}.bench.test`, paths: { "/": "app-0" }, annotations: { "configuration-snippet": text } });
    const known = Array.from({ length: 200 }, (_, i) => snippet(`add_header X-Known ${i % 4};`, i));
    await measure("first", webhook, known.slice(0, 4), 1, agent);
    print(await measure("snippets that were tested before", webhook, known, inFlight, agent));
    const fresh = Array.from({ length: 50 }, (_, i) => snippet(`add_header X-New ${i};`, i));
    print(await measure("snippets that were not (nginx -t)", webhook, fresh, 1, agent));
    const before = (await controller.state()).version;
    const stop = changing(controller, count);
    print(await measure(`kept connections, ${changesPerSecond} changes/s being applied`, webhook, mix(reviews), inFlight, agent));
    print(await measure(`a new connection each, ${changesPerSecond} changes/s`, webhook, mix(Math.ceil(reviews / 4)), inFlight, false));
    const changes = await stop();
    console.log(
      `meanwhile ${changes} changes written, ${(await controller.state()).version - before} batches applied; memory ${memory(controller.pid)}`,
    );
    const after: string[] = [];
    for (let round = 0; round < 4; round++) {
      await measure("again", webhook, mix(reviews), inFlight, agent);
      after.push(memory(controller.pid));
    }
    console.log(`memory after each of another ${after.length} × ${reviews} reviews: ${after.join(", ")}`);
  } finally {
    agent.destroy();
    await controller.stop();
    webhook.remove();
  }
}

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { ingresses: text, reviews: text, "in-flight": text } });
for (const count of (values.ingresses ?? "50,5000").split(",").map(Number)) {
  await bench(count, Number(values.reviews ?? 2000), Number(values["in-flight"] ?? 2));
}
