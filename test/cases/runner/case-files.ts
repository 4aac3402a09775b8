// Paths on the command line → cases.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Case } from "./case";
import { parseCase } from "./case-schema";

export interface CaseFile {
  readonly path: string;
  readonly case: Case;
}

function yamlFiles(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() || entry.name.endsWith(".yaml"))
    .flatMap((entry) => (entry.isDirectory() ? yamlFiles(join(path, entry.name)) : [join(path, entry.name)]))
    .sort();
}

/** The id of a case is where it lies: GROUP/NAME. */
export function idOfPath(path: string): string {
  const full = resolve(path);
  return `${basename(dirname(full))}/${basename(full, ".yaml")}`;
}

/** Reads every case below the paths; throws one error that lists all files that are wrong. */
export function loadCases(paths: readonly string[]): readonly CaseFile[] {
  const errors: string[] = [];
  const found: CaseFile[] = [];
  for (const path of [...new Set(paths.flatMap(yamlFiles))]) {
    try {
      const one = parseCase(readFileSync(path, "utf8"));
      if (one.id !== idOfPath(path)) errors.push(`${path}: id ${one.id} does not match the path`);
      found.push({ path, case: one });
    } catch (error) {
      errors.push(`${path}: ${(error as Error).message}`);
    }
  }
  if (errors.length > 0) throw new Error(`case files are wrong:\n${errors.join("\n")}`);
  return found;
}

/** Ids of all cases of the suite, by file name alone. */
export function listIds(root: string): ReadonlySet<string> {
  return new Set(yamlFiles(root).map(idOfPath));
}

/** `*` stands for any text. */
export function globPattern(glob: string): RegExp {
  return new RegExp(`^${glob.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")}$`);
}
