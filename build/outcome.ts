/** What a suite says of itself. */
export interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
  readonly failures: string[];
  readonly skips: { readonly name: string; readonly reason: string }[];
}

const lastLine = /^(\d+) passed, (\d+) failed, (\d+) skipped$/;

/** Reads the counts that a program of ours ends with; undefined when it never came to that line. */
export function outcomeOfText(output: string): Outcome | undefined {
  for (const line of output.trimEnd().split("\n").reverse()) {
    const match = lastLine.exec(line.trim());
    if (match === null) continue;
    return { passed: Number(match[1]), failed: Number(match[2]), skipped: Number(match[3]), failures: [], skips: [] };
  }
  return undefined;
}

/** A suite of one test: a check that passes or fails as a whole. */
export function single(passed: boolean, name: string): Outcome {
  return { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0, failures: passed ? [] : [name], skips: [] };
}

export function countsText(outcome: Pick<Outcome, "passed" | "failed" | "skipped">): string {
  return `${outcome.passed} passed, ${outcome.failed} failed, ${outcome.skipped} skipped`;
}
