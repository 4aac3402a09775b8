// npm run cases: black-box cases against real controllers. See FORMAT.md one folder up.
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { obstacle as clusterObstacle, kubeProgram } from "../../cluster/program";
import { missingCapabilities, nginxVersion } from "./capability";
import type { Case } from "./case";
import { globPattern, listIds, loadCases } from "./case-files";
import { type ExpectedFailures, parseExpected, shrinkExpected } from "./expected-failures";
import { serveFixtures } from "./fixture-link";
import { type LaneOptions, serveLane } from "./lane";
import { type Options, parseOptions, USAGE } from "./options";
import { runCases } from "./pool";
import { createReporter, type Reporter, writeJson } from "./report";

const ROOT = process.env.SLUICE_ROOT ?? process.cwd();
const SUITE = join(ROOT, "test/cases");
const EXPECTED = join(SUITE, "expected-failures.txt");

function readExpected(): string {
  return existsSync(EXPECTED) ? readFileSync(EXPECTED, "utf8") : "";
}

function selectCases(options: Options): readonly Case[] {
  const patterns = options.only.map(globPattern);
  const all = loadCases(options.paths.map((path) => resolve(path))).map((one) => one.case);
  const chosen = patterns.length === 0 ? all : all.filter((one) => patterns.some((pattern) => pattern.test(one.id)));
  return options.shuffle === undefined ? chosen : shuffled(chosen, options.shuffle);
}

function shuffled(cases: readonly Case[], seed: number): readonly Case[] {
  const place = (one: Case): string => createHash("sha256").update(`${seed} ${one.id}`).digest("hex");
  return cases
    .map((one) => ({ one, at: place(one) }))
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .map(({ one }) => one);
}

/** Skips what cannot run here; returns the rest. */
function runnable(cases: readonly Case[], options: Options, reporter: Reporter): readonly Case[] {
  const missing = missingCapabilities(options.assume, options.without);
  const obstacle = options.source === "cluster" ? clusterObstacle() : undefined;
  if (obstacle !== undefined) console.log(obstacle);
  return cases.filter((one) => {
    const need = one.needs.find((name) => missing.has(name));
    const reason = obstacle ?? (need === undefined ? undefined : `needs ${need}: ${missing.get(need)}`);
    if (reason !== undefined) reporter.skip(one, reason);
    return reason === undefined;
  });
}

async function runAll(cases: readonly Case[], options: Options, expected: ExpectedFailures, reporter: Reporter): Promise<void> {
  if (cases.length === 0) return;
  const controller = resolve(ROOT, options.controller);
  if (!existsSync(controller)) throw new Error(`${controller} does not exist: npm run build`);
  const folder = mkdtempSync(join(tmpdir(), "sluice-cases-"));
  if (!options.keep) process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
  const kube = options.source === "cluster" ? await kubeProgram() : undefined;
  await runCases(cases, {
    kube,
    lanes: options.lanes,
    bundle: process.argv[1]!,
    controller,
    folder,
    onResult: (one, result) => {
      reporter.add(one, result);
      return !(options.bail && result.outcome === "failed" && expected.reasonFor(one.id) === undefined);
    },
  });
  if (options.keep) console.log(`\nkept: ${folder}`);
}

async function main(options: Options): Promise<number> {
  const ids = listIds(SUITE);
  const expected = parseExpected(readExpected(), ids, nginxVersion());
  const cases = selectCases(options);
  const start = Date.now();
  const reporter = createReporter({ expected, total: cases.length, verbose: options.verbose, updating: options.updateExpected });
  await runAll(runnable(cases, options, reporter), options, expected, reporter);
  if (options.updateExpected) writeFileSync(EXPECTED, shrinkExpected(expected, ids, new Set(reporter.unexpected)));
  if (options.json !== undefined) writeJson(options.json, reporter.reports, Date.now() - start);
  return reporter.finish() > 0 ? 1 : 0;
}

async function start(): Promise<void> {
  const [mode, settings = ""] = process.argv.slice(2);
  if (mode === "--as-fixtures") return serveFixtures();
  if (mode === "--as-lane") return serveLane(JSON.parse(settings) as LaneOptions);
  let options: Options;
  try {
    options = parseOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`);
    process.exit(2);
  }
  try {
    process.exitCode = await main(options);
  } catch (error) {
    console.error((error as Error).message);
    process.exit(2);
  }
}

await start();
