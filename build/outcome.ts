/** What a suite says of itself. */
export interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
  readonly failures: string[];
  /** Reason → how many tests. */
  readonly skips: Record<string, number>;
}

const lastLine = /^(\d+) passed, (\d+) failed, (\d+) skipped$/;
const failureLine = /^FAILED (\S+)/;
const skipLine = /^ +(\d+) × (.+)$/;

/**
 * Reads what a program of ours prints: "FAILED name …" for each failure, "  N × reason" for what it skipped, and the
 * counts that it ends with. Undefined when it never came to those.
 */
export function outcomeOfText(output: string): Outcome | undefined {
  const lines = output.trimEnd().split("\n");
  const counts = lines.map((line) => lastLine.exec(line.trim())).findLast((match) => match !== null);
  if (counts === undefined) return undefined;
  const failures = lines.flatMap((line) => failureLine.exec(line)?.[1] ?? []);
  const skips: Record<string, number> = {};
  for (const line of lines) {
    const match = skipLine.exec(line);
    if (match !== null) skips[match[2]!] = Number(match[1]);
  }
  return { passed: Number(counts[1]), failed: Number(counts[2]), skipped: Number(counts[3]), failures, skips };
}

/** A suite of one test: a check that passes or fails as a whole. */
export function single(passed: boolean, name: string): Outcome {
  return { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0, failures: passed ? [] : [name], skips: {} };
}

export function countsText(outcome: Pick<Outcome, "passed" | "failed" | "skipped">): string {
  return `${outcome.passed} passed, ${outcome.failed} failed, ${outcome.skipped} skipped`;
}
