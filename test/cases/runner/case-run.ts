// Runs one case: its objects, then its steps in order, up to the first step that fails.
import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { findService } from "../../kit/fixtures/catalog";
import { fixtureObjects, type KubeObject, sliceObject } from "../../kit/fixtures/objects";
import { checkLog, logSize } from "./access-log";
import { review, webhookUp } from "./admission";
import type { ApplyStep, Case, Expectation, Range, RequestStep, SawSpec, Step } from "./case";
import { createSender, type Sender } from "./client/client";
import { type CookieJar, createJar } from "./client/cookie-jar";
import { headerValues } from "./client/reply";
import { parseTarget } from "./client/target";
import { checkReplies, isSeen, type PodLabels, type Timed } from "./expectation";
import type { FixtureLink } from "./fixture-link";
import { SETTINGS_NAME } from "./folder-world";
import { keyOf, keyText } from "./kube-object";
import { compare, testText } from "./matcher";
import { fill, type PlaceholderValues } from "./placeholders";
import type { World } from "./world";

const SAW_SETTLE_MS = 250;

export interface CaseContext {
  readonly world: World;
  readonly fixtures: FixtureLink;
  readonly texts: ReadonlyMap<string, string>;
  /** Flags of the lane that come before the case's. */
  readonly flags: readonly string[];
}

interface Run {
  readonly context: CaseContext;
  readonly reviewed: boolean;
  readonly objects: Map<string, KubeObject>;
  readonly jars: Map<string, CookieJar>;
  readonly labels: PodLabels;
  readonly logStart: number;
}

export function settingsObject(data: Readonly<Record<string, string>>): KubeObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: SETTINGS_NAME, namespace: "default" }, data };
}

export function permanentObjects(): readonly KubeObject[] {
  return [...fixtureObjects(), settingsObject({})];
}

function putObject(objects: Map<string, KubeObject>, object: KubeObject): void {
  objects.set(keyText(keyOf(object)), object);
}

async function applyReviewed(run: Run, step: ApplyStep): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const object of step.apply.objects ?? []) {
    if (object.kind !== "Ingress") continue;
    const verdict = await review(object, run.objects.get(keyText(keyOf(object))));
    const name = keyText(keyOf(object));
    if (step.refused !== true) {
      if (!verdict.allowed) problems.push(`${name}: expected to be allowed, was refused: ${verdict.message}`);
    } else if (verdict.allowed) problems.push(`${name}: expected to be refused, was allowed`);
    else if (step.message !== undefined) {
      const wrong = compare(verdict.message, step.message);
      if (wrong !== undefined) problems.push(`${name}: message: ${wrong}`);
    }
  }
  return problems;
}

async function apply(run: Run, step: ApplyStep): Promise<readonly string[]> {
  const problems = run.reviewed ? await applyReviewed(run, step) : [];
  if (problems.length > 0 || step.refused === true) return problems;
  for (const object of step.apply.objects ?? []) putObject(run.objects, object);
  if (step.apply.config !== undefined) {
    const before = run.objects.get(keyText(keyOf(settingsObject({}))))?.data as Record<string, string>;
    putObject(run.objects, settingsObject({ ...before, ...step.apply.config }));
  }
  await run.context.world.put([...run.objects.values()], false);
  return [];
}

function jarOf(run: Run, name: string | undefined): CookieJar | undefined {
  if (name === undefined || name === "none") return undefined;
  const jar = run.jars.get(name) ?? createJar();
  run.jars.set(name, jar);
  return jar;
}

function senderFor(run: Run, step: RequestStep): Sender {
  const key = step.request.client_cert;
  const { texts, world } = run.context;
  const clientCert = key === undefined ? undefined : { cert: texts.get(`${key}.crt`)!, key: texts.get(`${key}.key`)! };
  const options = { proxy: world.proxy, spec: step.request, clientIp: step.client_ip ?? "127.0.0.1", clientCert };
  return createSender({ ...options, reuse: step.connection === "reuse" && step.parallel !== true });
}

async function sendOnce(step: RequestStep, sender: Sender, jar: CookieJar | undefined): Promise<Timed> {
  const target = parseTarget(step.request.url);
  const site = { host: target.host, path: target.path, secure: target.scheme === "https" };
  const cookies = jar?.header(site);
  const start = performance.now();
  const outcome = await sender.send(cookies === undefined ? [] : [["Cookie", cookies]]);
  const elapsedMs = performance.now() - start;
  if (outcome.kind === "reply") jar?.store(site, headerValues(outcome.reply, "set-cookie"));
  return { outcome, elapsedMs };
}

async function request(run: Run, step: RequestStep): Promise<readonly string[]> {
  const times = step.times ?? 1;
  const jar = jarOf(run, step.jar);
  const sender = senderFor(run, step);
  const expect: Expectation = step.expect ?? {};
  try {
    if (step.parallel === true) {
      const all = await Promise.all(Array.from({ length: times }, () => sendOnce(step, sender, jar)));
      return checkReplies(all, expect, run.labels);
    }
    const all: Timed[] = [];
    for (let i = 0; i < times; i++) all.push(await sendOnce(step, sender, jar));
    return checkReplies(all, expect, run.labels);
  } finally {
    sender.close();
  }
}

async function saw(run: Run, wanted: SawSpec): Promise<readonly string[]> {
  await pause(SAW_SETTLE_MS);
  const all = await run.context.fixtures.seen(wanted.service);
  const found = all.filter((one) => one.namespace === "default" && isSeen(one, wanted));
  const connections = new Set(found.map((one) => one.connection)).size;
  const outside = (value: number, [min, max]: Range): boolean => value < min || value > max;
  if (outside(found.length, wanted.count)) {
    const [min, max] = wanted.count;
    const seen = all.map((one) => `${one.method} ${one.uri}`).slice(0, 5);
    return [
      `requests seen by ${wanted.service}: expected ${min} to ${max}, came ${found.length} (${all.length} in all: ${seen.join(", ")})`,
    ];
  }
  if (wanted.connections !== undefined && outside(connections, wanted.connections)) {
    return [`connections to ${wanted.service}: expected ${wanted.connections.join(" to ")}, came ${connections}`];
  }
  return [];
}

async function runStep(run: Run, step: Step): Promise<readonly string[]> {
  const { world, fixtures } = run.context;
  if ("request" in step) return request(run, step);
  if ("apply" in step) return apply(run, step);
  if ("wait" in step) await pause(step.wait.ms);
  else if ("delete" in step) {
    const { kind, name, namespace } = step.delete;
    if (!run.objects.delete(keyText(keyOf({ kind, metadata: { name, namespace } })))) return [`there is no ${kind} ${name} to delete`];
    await world.put([...run.objects.values()], false);
  } else if ("scale" in step) {
    putObject(run.objects, sliceObject(findService(step.scale.service), step.scale.pods));
    await fixtures.scale(step.scale.service, step.scale.pods);
    await world.put([...run.objects.values()], false);
  } else if ("saw" in step) return saw(run, step.saw);
  else if ("conf" in step) {
    const text = readFileSync(world.confFile, "utf8").replaceAll(/\s+/g, " ");
    const problem = testText(text, step.conf);
    return problem === undefined ? [] : [`nginx.conf: ${problem.slice(0, 300)}`];
  } else {
    const problem = await checkLog(world.accessLog, run.logStart, step.logs);
    return problem === undefined ? [] : [`access log: ${problem}`];
  }
  return [];
}

function initialObjects(filled: Case): Map<string, KubeObject> {
  const objects = new Map<string, KubeObject>();
  for (const object of permanentObjects()) putObject(objects, object);
  putObject(objects, settingsObject(filled.config));
  return objects;
}

/** Problems of the first step that fails, each with the number of the step; empty when the case passes. Throws WorldError. */
export async function runCase(given: Case, context: CaseContext): Promise<readonly string[]> {
  const { world, fixtures } = context;
  const flags = [...context.flags, ...given.flags];
  await world.useFlags(flags);
  const values: PlaceholderValues = { ports: world.proxy.ports, files: context.texts };
  const filled = fill(given, values);
  await fixtures.reset();
  const objects = initialObjects(filled);
  const reviewed = given.needs.includes("admission");
  const run: Run = { context, reviewed, objects, jars: new Map(), labels: new Map(), logStart: logSize(world.accessLog) };
  if (reviewed) {
    await world.put([...objects.values()], true);
    await webhookUp();
    const refused = await apply(run, { apply: { objects: filled.objects } });
    if (refused.length > 0) return refused.map((text) => `objects: ${text}`);
  } else {
    for (const object of filled.objects) putObject(objects, object);
    await world.put([...objects.values()], true);
  }
  for (const [i, step] of filled.steps.entries()) {
    const problems = await runStep(run, step);
    if (problems.length > 0) return problems.map((text) => `step ${i + 1}${labelOf(step)}: ${text}`);
  }
  return [];
}

function labelOf(step: Step): string {
  return "request" in step ? ` (${step.request.method ?? "GET"} ${step.request.url})` : ` (${Object.keys(step)[0]})`;
}
