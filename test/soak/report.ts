/** What the soak promises, and what it found. */

import type { LoadReport } from "./load.ts";
import type { Growth } from "./memory.ts";

export interface SoakReport {
  readonly minutes: number;
  readonly load: LoadReport;
  /** Requests that nginx gave to a pod that had been told to stop, half a second after its endpoint had gone. */
  readonly late: number;
  readonly changes: number;
  readonly changesWanted: number;
  /** Batches in which the controller applied the changes. */
  readonly syncs: number;
  readonly reloads: number;
  /** Increase of nginx_ingress_controller_requests over all labels. */
  readonly counted: number;
  /** That came to the OpenTelemetry collector. */
  readonly spans: number;
  /** Worker processes of nginx at the end that were not there at the beginning. */
  readonly newWorkers: number;
  /** Undefined: the run was too short to tell. */
  readonly growth: readonly Growth[] | undefined;
  /** Free bytes of the shared dictionaries, by name. */
  readonly free: readonly { readonly name: string; readonly before: number; readonly after: number }[];
}

const flatPercent = 5;
/** Of the changes wanted: fewer prove nothing about the rate. */
const leastShare = 0.9;
/** Of all requests: a machine that stands still for half a second must not look like a data plane that does not follow. */
const mostLate = 0.001;

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function percent({ early, late }: Growth): number {
  return (late / early - 1) * 100;
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) => row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join("  "))
    .join("\n");
}

function failed(load: LoadReport): number {
  return Object.values(load).reduce((sum, { failures }) => sum + Object.values(failures).reduce((some, count) => some + count, 0), 0);
}

function answeredIn(load: LoadReport): number {
  return Object.values(load).reduce((sum, tally) => sum + tally.answered, 0);
}

/** Promises that the run broke; empty: it kept them all. */
export function brokenPromises(report: SoakReport): readonly string[] {
  const { load, late, changes, changesWanted, reloads, newWorkers, counted, spans, growth } = report;
  const wrong: string[] = [];
  if (failed(load) > 0) wrong.push(`${failed(load)} requests failed though an endpoint could have served them`);
  for (const [name, tally] of Object.entries(load)) if (tally.answered === 0) wrong.push(`${name}: not one request was answered`);
  if (late > answeredIn(load) * mostLate) wrong.push(`${late} requests went to pods that had been told to stop`);
  if (reloads > 0) wrong.push(`nginx was reloaded ${reloads} times`);
  if (newWorkers > 0) wrong.push(`${newWorkers} workers were started anew`);
  if (changes < changesWanted * leastShare)
    wrong.push(`only ${changes} of ${changesWanted} changes could be made: this machine is too slow`);
  if (failed(load) === 0 && counted !== answeredIn(load))
    wrong.push(`the metrics say ${counted} requests, the clients ${answeredIn(load)}`);
  if (failed(load) === 0 && spans !== answeredIn(load)) wrong.push(`${spans} spans came of the clients' ${answeredIn(load)} requests`);
  for (const one of growth ?? []) {
    if (one.promised && percent(one) > flatPercent) wrong.push(`memory of ${one.name} grew by ${percent(one).toFixed(1)} %`);
  }
  return wrong;
}

export function printReport(report: SoakReport): void {
  const { minutes, load, late, changes, syncs, reloads, counted, spans, growth, free } = report;
  const rows = Object.entries(load).map(([name, tally]) => [name, String(tally.answered), String(failed({ [name]: tally }))]);
  console.log(`\n${table([["", "answered", "failed"], ...rows, ["all", String(answeredIn(load)), String(failed(load))]])}\n`);
  for (const [name, { failures }] of Object.entries(load)) {
    for (const [problem, count] of Object.entries(failures)) console.log(`  ${name}: ${count} × ${problem}`);
  }
  console.log(
    `${changes} endpoint changes in ${minutes.toFixed(1)} min, ${(changes / minutes / 60).toFixed(1)} a second, ` +
      `applied in ${syncs} batches; ${reloads} reloads; ${late} requests to pods on their way out; ${counted} requests in the metrics, ${spans} spans\n`,
  );
  if (growth === undefined) console.log("too short to compare memory of minutes 2 and 3 with the last minute\n");
  else {
    const lines = growth.map((one) => [
      one.name,
      megabytes(one.early),
      megabytes(one.late),
      `${percent(one).toFixed(1)} %`,
      megabytes(one.highest),
    ]);
    console.log(`${table([["memory", "minutes 2–3", "last minute", "growth", "highest"], ...lines])}\n`);
  }
  const dictionaries = free.map(({ name, before, after }) => [name, megabytes(before), megabytes(after)]);
  console.log(`${table([["shared dictionary", "free before", "free after"], ...dictionaries])}\n`);
}
