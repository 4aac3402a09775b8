/**
 * Breaks rows of the catalogue and expects the cases to notice: a controller in which an annotation or ConfigMap key
 * has no effect must fail at least one case. `node build/run.mjs test/mutation/main.ts [--rows=N] [--seed=TEXT] [--only=NAME,…] [--lanes=N]`
 * unproven.txt beside it lists the rows of which it is not known that a case notices, with the reason where there is one: they
 * are not chosen.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { build, type Plugin } from "esbuild";
import { bundleOptions } from "../../build/bundle-options.ts";
import type { Case } from "../cases/runner/case.ts";
import { loadCases } from "../cases/runner/case-files.ts";
import { type CatalogueRow, fullRows, isOwn, sets } from "../cases/runner/mentions.ts";

const root = process.env.SLUICE_ROOT!;
const dir = resolve(root, `.cache/mutation-${process.pid}`);

/** Enough to notice, few enough to be quick; a project's own cases come first. */
const mostCases = 24;

/** Every value that parses becomes the default, so the row's build step sees nothing. */
function breaking({ table, name }: CatalogueRow): Plugin {
  const file = table === "annotation" ? /control\/features\/index\.ts$/ : /control\/features\/settings\.ts$/;
  const rows = table === "annotation" ? "features.map((feature) => feature.rows)" : "[settings]";
  const code = `
for (const rows of ${rows}) {
  const row = (rows as any)[${JSON.stringify(name)}];
  if (row === undefined) continue;
  const parse = row.kind.parse;
  row.kind = { ...row.kind, parse: (text: string) => { const parsed = parse(text); return parsed.ok ? { ok: true, value: row.default } : parsed; } };
}
`;
  return {
    name: "breaking",
    setup: ({ onLoad }) => onLoad({ filter: file }, ({ path }) => ({ contents: readFileSync(path, "utf8") + code, loader: "ts" })),
  };
}

async function buildMutant(row: CatalogueRow): Promise<string> {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  for (const name of ["nginx", "lua"]) symlinkSync(resolve(root, "dist", name), join(dir, name));
  const outfile = join(dir, "nginx-ingress-controller.mjs");
  await build({ ...bundleOptions, entryPoints: [resolve(root, "control/main.ts")], outfile, plugins: [breaking(row)] });
  return outfile;
}

interface Report {
  readonly cases: readonly { readonly id: string; readonly outcome: string; readonly problems?: readonly string[] }[];
}

/** Ids of cases that failed with that controller. */
function failing(controller: string, cases: readonly Case[], lanes: string): readonly string[] {
  const json = join(dir, "outcome.json");
  const args = [
    "build/run.mjs",
    "test/cases/runner/main.ts",
    "test/cases",
    `--lanes=${lanes}`,
    `--controller=${controller}`,
    `--json=${json}`,
    "--bail",
  ];
  const { stdout, stderr } = spawnSync(process.execPath, [...args, ...cases.map(({ id }) => `--only=${id}`)], {
    cwd: root,
    encoding: "utf8",
  });
  if (!existsSync(json)) throw new Error(`the cases did not run to their end:\n${stdout}${stderr}`);
  const { cases: outcomes } = JSON.parse(readFileSync(json, "utf8")) as Report;
  return outcomes
    .filter(({ outcome, problems }) => outcome === "failed" && !problems?.[0]?.startsWith("passes unexpectedly"))
    .map(({ id }) => id);
}

/** The rows in an order that the seed gives. */
function shuffled(rows: readonly CatalogueRow[], seed: string): readonly CatalogueRow[] {
  const rank = (row: CatalogueRow) => createHash("sha256").update(`${seed} ${row.table} ${row.name}`).digest("hex");
  return rows.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

function ownFirst(cases: readonly Case[]): readonly Case[] {
  return cases.toSorted((a, b) => Number(isOwn(b)) - Number(isOwn(a))).slice(0, mostCases);
}

async function check(row: CatalogueRow, all: readonly Case[], lanes: string): Promise<string | undefined> {
  const cases = ownFirst(all.filter((one) => sets(one, row)));
  if (cases.length === 0) return "no case sets it";
  const failed = failing(await buildMutant(row), cases, lanes);
  return failed.length > 0 ? undefined : `none of ${cases.length} cases notices`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rows: { type: "string", default: "10" },
      seed: { type: "string" },
      only: { type: "string" },
      lanes: { type: "string", default: "2" },
    },
  });
  const seed =
    values.seed ?? (spawnSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" }).stdout.trim() || new Date().toISOString());
  const names = values.only?.split(",");
  const known = new Set(
    readFileSync(resolve(root, "test/mutation/unproven.txt"), "utf8")
      .split("\n")
      .map((line) => line.split(" ")[0]),
  );
  const rows = fullRows();
  const open = rows.filter(({ table, name }) => !known.has(`${table}:${name}`));
  const chosen = names === undefined ? shuffled(open, seed).slice(0, Number(values.rows)) : rows.filter(({ name }) => names.includes(name));
  console.log(`seed ${seed}`);
  const all = loadCases([resolve(root, "test/cases")]).map((one) => one.case);
  let failures = 0;
  for (const row of chosen) {
    const problem = await check(row, all, values.lanes);
    if (problem !== undefined) failures++;
    console.log(problem === undefined ? `noticed ${row.table} ${row.name}` : `FAILED ${row.table}:${row.name}: ${problem}`);
  }
  rmSync(dir, { recursive: true, force: true });
  console.log(`${chosen.length - failures} passed, ${failures} failed, 0 skipped`);
  process.exitCode = failures > 0 || chosen.length === 0 ? 1 : 0;
}

await main();
