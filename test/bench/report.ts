/** The figures as a table for people. */

import type { EndpointDelay, ReloadCost } from "./changes.ts";
import type { HandshakeRow } from "./handshakes.ts";
import type { Row } from "./rounds.ts";
import type { StreamRow } from "./streams.ts";

export interface Memory {
  readonly hosts: number;
  readonly sluiceBytes: number;
  readonly plainBytes: number;
}

export interface BenchReport {
  readonly machine: { readonly cpus: number; readonly model: string; readonly node: string };
  readonly at: string;
  readonly rows: readonly Row[];
  readonly memory: readonly Memory[];
  /** The plain route first. */
  readonly features: readonly Row[];
  readonly handshakes: readonly HandshakeRow[];
  readonly streams: readonly StreamRow[];
  readonly reloads: ReloadCost;
  readonly endpointDelay: EndpointDelay;
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) => row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join("  "))
    .join("\n");
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function printFeatures(features: readonly Row[]): void {
  const plain = features[0];
  if (plain === undefined) return;
  const lines = features.map(({ target, cpuMicroseconds, p99Ms, errors }) => [
    target,
    cpuMicroseconds.toFixed(1),
    (cpuMicroseconds - plain.cpuMicroseconds).toFixed(1),
    p99Ms.toFixed(2),
    String(errors),
  ]);
  console.log(`\n${table([["", "CPU µs/request", "over plain route", "p99 ms", "errors"], ...lines])}\n`);
}

function printHandshakes(handshakes: readonly HandshakeRow[]): void {
  const lines = handshakes.map(({ kind, plainPerSecond, sluicePerSecond, ratio }) => [
    kind,
    plainPerSecond.toFixed(0),
    sluicePerSecond.toFixed(0),
    ratio.toFixed(2),
  ]);
  console.log(`${table([["TLS handshakes a second of CPU (ECDSA P-256)", "plain nginx", "Sluice", "× plain"], ...lines])}\n`);
}

function printStreams(streams: readonly StreamRow[]): void {
  const lines = streams.map(({ kind, plainMicroseconds, sluiceMicroseconds }) => [
    kind,
    plainMicroseconds.toFixed(1),
    sluiceMicroseconds.toFixed(1),
    (sluiceMicroseconds - plainMicroseconds).toFixed(1),
  ]);
  console.log(`${table([["CPU µs for a TCP connection", "plain nginx", "Sluice", "over plain"], ...lines])}\n`);
}

export function printReport(report: BenchReport): void {
  const heads = ["", "hosts", "CPU µs/request", "× plain", "requests/s", "p50 ms", "p99 ms", "requests", "errors"];
  const rows = report.rows.map((row) => {
    const plain = report.rows.find((other) => other.hosts === row.hosts && other.target === "plain nginx")!;
    const figures = [
      row.cpuMicroseconds.toFixed(1),
      (row.cpuMicroseconds / plain.cpuMicroseconds).toFixed(2),
      row.requestsPerSecond.toFixed(0),
    ];
    return [
      row.target,
      String(row.hosts),
      ...figures,
      row.p50Ms.toFixed(2),
      row.p99Ms.toFixed(2),
      String(row.requests),
      String(row.errors),
    ];
  });
  console.log(`\n${table([heads, ...rows])}\n`);
  for (const { hosts, sluiceBytes, plainBytes } of report.memory) {
    console.log(
      `resident memory of a worker, ${hosts} hosts, all requested: Sluice ${megabytes(sluiceBytes)}, plain nginx ${megabytes(plainBytes)}`,
    );
  }
  printFeatures(report.features);
  printHandshakes(report.handshakes);
  printStreams(report.streams);
  const { reloads, endpointDelay } = report;
  console.log(
    `${reloads.changes} ordinary changes in ${reloads.seconds.toFixed(1)} s: ${reloads.reloads} reloads, ${reloads.wrong.length} wrong answers`,
  );
  for (const problem of reloads.wrong) console.log(`  ${problem}`);
  console.log(
    `endpoint change, from the rename of the file to the first answer of the new pod: median ${endpointDelay.medianMs.toFixed(0)} ms, ` +
      `at most ${endpointDelay.maxMs.toFixed(0)} ms of ${endpointDelay.times.length}`,
  );
}
