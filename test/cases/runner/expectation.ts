// Replies against `expect`. Every problem is one sentence: what was expected, what came.
import type { Seen } from "../../kit/fixtures/record";
import type { EchoExpectation, Expectation, Matchers, Range, SawSpec } from "./case";
import { headerValues, type Outcome, type Reply } from "./client/reply";
import { compare, compareAny, show, testText } from "./matcher";

export interface Timed {
  readonly outcome: Outcome;
  readonly elapsedMs: number;
}

/** Pods by label, over all steps of a case. */
export type PodLabels = Map<string, Set<string>>;

function dechunk(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = body.indexOf("\r\n", at);
    const size = end < 0 ? Number.NaN : Number.parseInt(body.toString("latin1", at, end), 16);
    if (Number.isNaN(size) || size === 0) return Buffer.concat(parts);
    parts.push(body.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

function parseSeen(body: Buffer): Seen | undefined {
  if (body[0] !== 0x7b) return undefined;
  try {
    const value = JSON.parse(body.toString()) as Partial<Seen>;
    return typeof value.service === "string" && typeof value.pod === "string" && typeof value.uri === "string"
      ? (value as Seen)
      : undefined;
  } catch {
    return undefined;
  }
}

/** What the backend saw, when the reply is an echo reply. */
export function echoOf(reply: Reply): Seen | undefined {
  return parseSeen(reply.body) ?? (headerValues(reply, "transfer-encoding").length > 0 ? parseSeen(dechunk(reply.body)) : undefined);
}

function listOf(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}

function add(problems: string[], what: string, problem: string | undefined): void {
  if (problem !== undefined) problems.push(`${what}: ${problem}`);
}

function checkHeaders(problems: string[], what: string, wanted: Matchers | undefined, valuesOf: (name: string) => readonly string[]): void {
  for (const [name, matcher] of Object.entries(wanted ?? {})) add(problems, `${what} ${name}`, compareAny(valuesOf(name), matcher));
}

function checkEcho(problems: string[], seen: Seen, wanted: EchoExpectation): void {
  for (const key of ["service", "namespace", "pod", "method", "uri", "http_version", "body"] as const) {
    const matcher = wanted[key];
    if (matcher !== undefined) add(problems, `backend's ${key}`, compare(seen[key], matcher));
  }
  checkHeaders(problems, "backend's header", wanted.headers, (name) => listOf(seen.headers[name.toLowerCase()]));
  checkHeaders(problems, "backend's parameter", wanted.params, (name) => listOf(seen.params?.[name]));
  if (wanted.tls === null) add(problems, "backend's tls", seen.tls === null ? undefined : `expected none, came ${show(seen.tls)}`);
  else if (wanted.tls !== undefined) {
    for (const key of ["sni", "client_cn"] as const) {
      const matcher = wanted.tls[key];
      if (matcher !== undefined) add(problems, `backend's tls.${key}`, compare(seen.tls?.[key], matcher));
    }
  }
}

/** Where several statuses are allowed, the refused ones need not come from a backend. */
function mayLackEcho(reply: Reply, wanted: Expectation): boolean {
  return (wanted.statuses !== undefined || Array.isArray(wanted.status)) && reply.status !== 200;
}

function checkStatus(problems: string[], reply: Reply, wanted: Expectation["status"]): void {
  if (wanted === undefined) return;
  const allowed = typeof wanted === "number" ? [wanted] : wanted;
  if (reply.status === undefined || !allowed.includes(reply.status))
    problems.push(`status: expected ${allowed.join(" or ")}, came ${reply.status}`);
}

function checkReplyParts(problems: string[], reply: Reply, wanted: Expectation): void {
  checkStatus(problems, reply, wanted.status);
  checkHeaders(problems, "header", wanted.headers, (name) => headerValues(reply, name));
  if (wanted.body !== undefined) add(problems, "body", testText(reply.body.toString(), wanted.body));
  for (const key of ["protocol", "subject_cn", "alpn", "cipher"] as const) {
    const matcher = wanted.tls?.[key];
    if (matcher !== undefined) add(problems, `tls.${key}`, compare(reply.tls?.[key], matcher));
  }
  if (wanted.echo === undefined) return;
  const seen = echoOf(reply);
  if (seen !== undefined) checkEcho(problems, seen, wanted.echo);
  else if (!mayLackEcho(reply, wanted))
    problems.push(`backend: expected an echo reply, came ${reply.status} ${show(reply.body.toString())}`);
}

function checkOne(problems: string[], one: Timed, wanted: Expectation): void {
  const { outcome, elapsedMs } = one;
  const { min = 0, max = Number.POSITIVE_INFINITY } = wanted.elapsed_ms ?? {};
  if (elapsedMs < min || elapsedMs > max) problems.push(`elapsed: expected ${min} to ${max} ms, took ${Math.round(elapsedMs)} ms`);
  if (wanted.failed === true) {
    if (outcome.kind === "reply") problems.push(`expected no reply, came status ${outcome.reply.status}`);
    else if (outcome.failure.timedOut) problems.push(`expected a refused or closed connection, came ${outcome.failure.reason}`);
  } else if (outcome.kind === "failed") problems.push(`expected a reply, came none: ${outcome.failure.reason}`);
  else checkReplyParts(problems, outcome.reply, wanted);
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function within(problems: string[], what: string, count: number, [min, max]: Range): void {
  if (count < min || count > max) problems.push(`${what}: expected ${min} to ${max}, came ${count}`);
}

function checkPods(problems: string[], seen: readonly Seen[], wanted: Expectation, labels: PodLabels): void {
  const pods = countBy(seen.map((one) => `${one.namespace}/${one.pod}`));
  if (wanted.pods !== undefined) {
    within(problems, "number of pods", pods.size, [wanted.pods.min ?? 0, wanted.pods.max ?? Number.POSITIVE_INFINITY]);
    if (wanted.pods.each !== undefined) for (const [pod, count] of pods) within(problems, `replies of ${pod}`, count, wanted.pods.each);
  }
  if (wanted.same_pod === undefined || wanted.same_pod === false) return;
  const label = typeof wanted.same_pod === "string" ? wanted.same_pod : undefined;
  const known = label === undefined ? new Set<string>() : (labels.get(label) ?? new Set<string>());
  for (const pod of pods.keys()) known.add(pod);
  if (label !== undefined) labels.set(label, known);
  if (known.size !== 1)
    problems.push(`same pod${label === undefined ? "" : ` (${label})`}: expected one, came ${[...known].join(", ") || "none"}`);
}

function checkTogether(problems: string[], replies: readonly Reply[], wanted: Expectation, labels: PodLabels): void {
  const seen = replies.map(echoOf).filter((one) => one !== undefined);
  const services = countBy(seen.map((one) => one.service));
  for (const [name, range] of Object.entries(wanted.shares ?? {})) within(problems, `replies of ${name}`, services.get(name) ?? 0, range);
  const statuses = countBy(replies.map((one) => String(one.status)));
  for (const [status, range] of Object.entries(wanted.statuses ?? {}))
    within(problems, `replies ${status}`, statuses.get(status) ?? 0, range);
  checkPods(problems, seen, wanted, labels);
}

/** Problems of one step's replies; empty when all is as expected. Equal problems of several replies are told once. */
export function checkReplies(all: readonly Timed[], wanted: Expectation, labels: PodLabels): readonly string[] {
  const each: string[] = [];
  for (const one of all) checkOne(each, one, wanted);
  const problems = [...countBy(each)].map(([text, count]) => (count > 1 ? `${text} (${count} of ${all.length} replies)` : text));
  const replies = all.flatMap(({ outcome }) => (outcome.kind === "reply" ? [outcome.reply] : []));
  checkTogether(problems, replies, wanted, labels);
  return problems;
}

/** Whether a request that a pod received is one that `saw` speaks of. */
export function isSeen(seen: Seen, wanted: SawSpec): boolean {
  const problems: string[] = [];
  checkEcho(problems, seen, { method: wanted.method, uri: wanted.uri, headers: wanted.headers, body: wanted.body });
  return problems.length === 0;
}
