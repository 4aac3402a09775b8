// expected-failures.txt: cases that are known to fail, one id or GROUP/* a line, `# reason` behind it.
import { globPattern } from "./case-files";

export interface ExpectedLine {
  /** Empty for a line that is only comment or blank. */
  readonly pattern: string;
  readonly reason: string;
  readonly text: string;
}

export interface ExpectedFailures {
  readonly lines: readonly ExpectedLine[];
  reasonFor(id: string): string | undefined;
}

function parseLine(text: string): ExpectedLine {
  const hash = text.indexOf("#");
  const pattern = (hash < 0 ? text : text.slice(0, hash)).trim();
  return { pattern, reason: hash < 0 ? "" : text.slice(hash + 1).trim(), text };
}

/** Throws when a line names no case. */
export function parseExpected(source: string, ids: ReadonlySet<string>): ExpectedFailures {
  const lines = source.split("\n").map(parseLine);
  const reasons = new Map<string, string>();
  const unknown: string[] = [];
  for (const { pattern, reason } of lines) {
    if (pattern === "") continue;
    const matches = pattern.includes("*") ? [...ids].filter((id) => globPattern(pattern).test(id)) : [pattern].filter((id) => ids.has(id));
    if (matches.length === 0) unknown.push(pattern);
    for (const id of matches) if (!reasons.has(id)) reasons.set(id, reason);
  }
  if (unknown.length > 0) throw new Error(`expected-failures.txt names cases that do not exist: ${unknown.join(", ")}`);
  return { lines, reasonFor: (id) => reasons.get(id) };
}

/** The text without the cases that passed. Patterns become the ids that they stand for; nothing is ever added. */
export function shrinkExpected(expected: ExpectedFailures, ids: ReadonlySet<string>, passed: ReadonlySet<string>): string {
  const written = new Set<string>();
  const lines = expected.lines.flatMap(({ pattern, reason, text }) => {
    if (pattern === "") return [text];
    const matches = [...ids].filter((id) => globPattern(pattern).test(id) && !passed.has(id) && !written.has(id)).sort();
    for (const id of matches) written.add(id);
    return pattern.includes("*") ? matches.map((id) => (reason === "" ? id : `${id}  # ${reason}`)) : matches.map(() => text);
  });
  return lines.join("\n");
}
