// expected-failures.txt: cases that are known to fail, one id or GROUP/* a line, `# reason` behind it. With [nginx<1.25.1]
// after the id the line counts for such an nginx alone.
import { atLeast } from "../../../control/run/nginx-install";
import { globPattern } from "./case-files";

export interface ExpectedLine {
  /** Empty for a line that is only comment or blank. */
  readonly pattern: string;
  readonly reason: string;
  /** The line counts below this version of nginx; undefined: always. */
  readonly below: string | undefined;
  readonly text: string;
}

export interface ExpectedFailures {
  readonly lines: readonly ExpectedLine[];
  reasonFor(id: string): string | undefined;
}

function parseLine(text: string): ExpectedLine {
  const hash = text.indexOf("#");
  const rule = (hash < 0 ? text : text.slice(0, hash)).trim();
  const bound = /^(\S+)\s+\[nginx<([\d.]+)\]$/.exec(rule);
  return { pattern: bound?.[1] ?? rule, below: bound?.[2], reason: hash < 0 ? "" : text.slice(hash + 1).trim(), text };
}

/** Throws when a line names no case. */
export function parseExpected(source: string, ids: ReadonlySet<string>, nginxVersion: string): ExpectedFailures {
  const lines = source.split("\n").map(parseLine);
  const reasons = new Map<string, string>();
  const unknown: string[] = [];
  for (const { pattern, reason, below } of lines) {
    if (pattern === "") continue;
    const matches = pattern.includes("*") ? [...ids].filter((id) => globPattern(pattern).test(id)) : [pattern].filter((id) => ids.has(id));
    if (matches.length === 0) unknown.push(pattern);
    if (below !== undefined && atLeast(nginxVersion, below)) continue;
    for (const id of matches) if (!reasons.has(id)) reasons.set(id, reason);
  }
  if (unknown.length > 0) throw new Error(`expected-failures.txt names cases that do not exist: ${unknown.join(", ")}`);
  return { lines, reasonFor: (id) => reasons.get(id) };
}

/** The text without the cases that passed. Patterns become the ids that they stand for; nothing is ever added. */
export function shrinkExpected(expected: ExpectedFailures, ids: ReadonlySet<string>, passed: ReadonlySet<string>): string {
  const written = new Set<string>();
  const lines = expected.lines.flatMap(({ pattern, reason, below, text }) => {
    if (pattern === "" || below !== undefined) return [text];
    const matches = [...ids].filter((id) => globPattern(pattern).test(id) && !passed.has(id) && !written.has(id)).sort();
    for (const id of matches) written.add(id);
    return pattern.includes("*") ? matches.map((id) => (reason === "" ? id : `${id}  # ${reason}`)) : matches.map(() => text);
  });
  return lines.join("\n");
}
