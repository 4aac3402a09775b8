// Results → what the user reads, the JSON file, the exit code.
import { writeFileSync } from "node:fs";
import type { Case } from "./case";
import type { ExpectedFailures } from "./expected-failures";
import type { Result } from "./lane";

export interface CaseReport {
  readonly id: string;
  readonly outcome: "passed" | "failed" | "skipped";
  readonly durationMs: number;
  readonly reason?: string;
  readonly problems?: readonly string[];
}

const PROGRESS_EVERY = 100;

export interface Reporter {
  add(one: Case, result: Result): void;
  skip(one: Case, reason: string): void;
  /** Prints the summary; returns the number of failures. */
  finish(): number;
  readonly reports: readonly CaseReport[];
  /** Ids that passed though they are in the list of expected failures. */
  readonly unexpected: readonly string[];
}

export interface ReporterOptions {
  readonly expected: ExpectedFailures;
  readonly total: number;
  readonly verbose: boolean;
  /** Passing cases leave the list, so they are no failures. */
  readonly updating: boolean;
}

const UNEXPECTED = "passes unexpectedly: remove it from the list";

function judge(one: Case, result: Result, options: ReporterOptions): CaseReport {
  const { durationMs } = result;
  const known = options.expected.reasonFor(one.id);
  if (result.outcome === "skipped") return { id: one.id, outcome: "skipped", durationMs, reason: result.reason };
  if (result.outcome === "failed") {
    if (known === undefined) return { id: one.id, outcome: "failed", durationMs, problems: result.problems };
    return { id: one.id, outcome: "skipped", durationMs, reason: "expected failure", problems: result.problems };
  }
  if (known === undefined || options.updating) return { id: one.id, outcome: "passed", durationMs };
  return { id: one.id, outcome: "failed", durationMs, problems: [UNEXPECTED] };
}

function line(report: CaseReport): string {
  const text = report.problems?.join("; ") ?? report.reason ?? "";
  return `${report.outcome.toUpperCase()} ${report.id} ${report.durationMs} ms${text === "" ? "" : `: ${text}`}`;
}

function printSummary(reports: readonly CaseReport[]): void {
  const failed = reports.filter((one) => one.outcome === "failed");
  if (failed.length > 0) console.log(`\nfailures:\n${failed.map((one) => `  ${one.id}`).join("\n")}`);
  const reasons = new Map<string, number>();
  for (const { outcome, reason = "" } of reports) if (outcome === "skipped") reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  if (reasons.size > 0) console.log(`\nskipped:\n${[...reasons].map(([reason, count]) => `  ${count} × ${reason}`).join("\n")}`);
  const unexpected = failed.filter((one) => one.problems?.[0] === UNEXPECTED);
  if (unexpected.length > 0) console.log(`\npass unexpectedly:\n${unexpected.map((one) => `  ${one.id}`).join("\n")}`);
}

export function createReporter(options: ReporterOptions): Reporter {
  const reports: CaseReport[] = [];
  const unexpected: string[] = [];
  const count = (outcome: CaseReport["outcome"]): number => reports.filter((one) => one.outcome === outcome).length;
  function keep(report: CaseReport): void {
    reports.push(report);
    if (report.outcome === "failed" || options.verbose) console.log(line(report));
    if (reports.length % PROGRESS_EVERY === 0) console.log(`… ${reports.length} of ${options.total}`);
  }
  return {
    reports,
    unexpected,
    add: (one, result) => {
      if (result.outcome === "passed" && options.expected.reasonFor(one.id) !== undefined) unexpected.push(one.id);
      keep(judge(one, result, options));
    },
    skip: (one, reason) => keep({ id: one.id, outcome: "skipped", durationMs: 0, reason }),
    finish: () => {
      printSummary(reports);
      console.log(`\n${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped`);
      return count("failed");
    },
  };
}

export function writeJson(path: string, reports: readonly CaseReport[], durationMs: number): void {
  const count = (outcome: CaseReport["outcome"]): number => reports.filter((one) => one.outcome === outcome).length;
  const cases = [...reports].sort((a, b) => (a.id < b.id ? -1 : 1));
  const summary = { durationMs, passed: count("passed"), failed: count("failed"), skipped: count("skipped"), cases };
  writeFileSync(path, `${JSON.stringify(summary, null, 1)}\n`);
}
