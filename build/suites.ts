/**
 * Runs every suite, says of each how it went, and ends with the counts over all of them.
 * usage: node build/run.mjs build/suites.ts [--only=NAME,…]
 */

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { countsText, type Outcome, outcomeOfText, single } from "./outcome.ts";

const root = process.env.SLUICE_ROOT!;
const node = process.execPath;

interface Suite {
  readonly name: string;
  readonly about: string;
  readonly kind: "check" | "vitest" | "counted";
  readonly commands: readonly (readonly string[])[];
  /** Files without which the suite cannot run: then it has failed. */
  readonly needs?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A file without which the suite is skipped, and why it may be missing. */
  readonly unless?: { readonly file: string; readonly reason: string };
}

const tsc = "node_modules/typescript/bin/tsc";
const built = ["dist/nginx-ingress-controller.mjs", "dist/lua", "dist/nginx/nginx.conf.mustache"];

const sourceGroups = [
  "routing",
  "routing-host",
  "routing-path",
  "routing-conflict",
  "live-update",
  "dynamic",
  "endpoints",
  "endpointslices",
  "ingress",
  "canary",
  "tls-certificate",
  "auth-basic",
  "settings",
].map((group) => `test/cases/${group}`);

const suites: readonly Suite[] = [
  {
    name: "lua",
    about: "the data plane compiles, hot modules emit no slow Lua",
    kind: "check",
    commands: [[node, "build/run.mjs", "build/lua.ts"]],
  },
  { name: "control", about: "the controller bundles", kind: "check", commands: [[node, "build/run.mjs", "build/control.ts"]] },
  {
    name: "types",
    about: "types of both sides, of build and test",
    kind: "check",
    commands: [
      [node, tsc, "-p", "tsconfig.json"],
      [node, tsc, "-p", "lua-src/tsconfig.json"],
    ],
  },
  {
    name: "lint",
    about: "Biome",
    kind: "check",
    commands: [[node, "node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "--max-diagnostics=15"]],
  },
  { name: "docs", about: "generated pages are current", kind: "check", commands: [[node, "build/run.mjs", "build/docs.ts", "--check"]] },
  {
    name: "lua-specs",
    about: "Lua units in an nginx worker",
    kind: "counted",
    commands: [[node, "build/run.mjs", "test/lua/run.ts"]],
  },
  { name: "unit", about: "pure parts", kind: "vitest", commands: [["test/unit"]] },
  {
    name: "dataplane",
    about: "nginx and Lua without a controller",
    kind: "vitest",
    commands: [["test/dataplane", "--no-file-parallelism"]],
    needs: ["dist/lua"],
  },
  {
    name: "e2e",
    about: "the whole, with failures made on purpose",
    kind: "vitest",
    commands: [["test/e2e", "--no-file-parallelism"]],
    needs: built,
  },
  {
    name: "cases",
    about: "black-box cases",
    kind: "counted",
    commands: [[node, "build/run.mjs", "test/cases/runner/main.ts", "test/cases"]],
    needs: built,
  },
  {
    name: "mutation",
    about: "ten annotations and keys without effect, one after the other: cases must notice",
    kind: "counted",
    commands: [[node, "build/run.mjs", "test/mutation/main.ts"]],
    needs: built,
  },
  {
    name: "cases-13",
    about: "the same with Debian 13's nginx, which the image has, in another order",
    kind: "counted",
    commands: [[node, "build/run.mjs", "test/cases/runner/main.ts", "test/cases", "--shuffle=13"]],
    needs: built,
    env: {
      NGINX_BINARY: resolve(root, ".cache/debian13/nginx"),
      NGINX_MODULES: resolve(root, ".cache/debian13/root/usr/lib/nginx/modules"),
    },
    unless: { file: ".cache/debian13/nginx", reason: "Debian 13's nginx could not be fetched (the reason stands at the top)" },
  },
  {
    name: "cases-api",
    about: "groups that lean on the source, against a real API server",
    kind: "counted",
    commands: [[node, "build/run.mjs", "test/cases/runner/main.ts", ...sourceGroups, "--source=cluster", "--lanes=2"]],
    needs: built,
  },
  {
    name: "helm",
    about: "the chart rendered with many values by Helm's engine",
    kind: "counted",
    commands: [[node, "build/run.mjs", "test/helm/main.ts"]],
  },
  {
    name: "image",
    about: "the container image: built, run as a pod would, cases inside it",
    kind: "counted",
    commands: [[node, "build/run.mjs", "test/image/main.ts"]],
    needs: built,
  },
  {
    name: "cluster",
    about: "a real API server",
    kind: "counted",
    commands: [[node, "build/run.mjs", "test/cluster/main.ts"]],
    needs: built,
  },
];

interface Run {
  readonly code: number | string;
  readonly output: string;
}

/** Output goes to the console as it comes and is kept. */
function run(command: readonly string[], env: Readonly<Record<string, string>>, show: boolean): Promise<Run> {
  const [program = "", ...args] = command;
  return new Promise((done) => {
    const child = spawn(program, args, { cwd: root, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const keep = (to: NodeJS.WriteStream) => (chunk: Buffer) => {
      output += chunk.toString();
      if (show) to.write(chunk);
    };
    child.stdout.on("data", keep(process.stdout));
    child.stderr.on("data", keep(process.stderr));
    child.once("error", (error) => done({ code: error.message, output }));
    child.once("close", (code, signal) => done({ code: code ?? signal ?? "unknown", output }));
  });
}

async function runCheck(suite: Suite): Promise<Outcome> {
  for (const command of suite.commands) {
    const { code, output } = await run(command, {}, false);
    if (code === 0) continue;
    process.stdout.write(`${output.trimEnd()}\n`);
    return single(false, suite.about);
  }
  return single(true, suite.about);
}

async function runVitest(suite: Suite): Promise<Outcome> {
  const dir = resolve(root, ".cache/outcomes");
  mkdirSync(dir, { recursive: true });
  const file = resolve(dir, `${suite.name}-${process.pid}.json`);
  const reporters = ["--reporter=dot", `--reporter=${resolve(root, "build/vitest-outcome.ts")}`];
  const command = [node, "node_modules/vitest/vitest.mjs", "run", "--no-color", ...(suite.commands[0] ?? []), ...reporters];
  const { code } = await run(command, { SLUICE_OUTCOME: file, NO_COLOR: "1" }, true);
  if (!existsSync(file)) return single(false, `the suite did not run to its end (${code})`);
  const outcome = JSON.parse(readFileSync(file, "utf8")) as Outcome;
  rmSync(file);
  return atLeastFailed(outcome, code);
}

async function runCounted(suite: Suite): Promise<Outcome> {
  const { code, output } = await run(suite.commands[0] ?? [], suite.env ?? {}, true);
  const outcome = outcomeOfText(output);
  return outcome === undefined ? single(false, `the suite did not run to its end (${code})`) : atLeastFailed(outcome, code);
}

/** A suite that reports no failure and yet ends with an error, or that ran nothing, has failed. */
function atLeastFailed(outcome: Outcome, code: number | string): Outcome {
  const ran = outcome.passed + outcome.failed + outcome.skipped > 0;
  if (outcome.failed > 0 || (code === 0 && ran)) return outcome;
  const reason = ran ? `the suite ended with ${code}` : "the suite has no tests";
  return { ...outcome, failed: outcome.failed + 1, failures: [...outcome.failures, reason] };
}

async function runSuite(suite: Suite): Promise<Outcome> {
  const absent = (suite.needs ?? []).filter((file) => !existsSync(resolve(root, file)));
  if (absent.length > 0) return single(false, `cannot start: ${absent.join(", ")} is not there`);
  if (suite.unless !== undefined && !existsSync(resolve(root, suite.unless.file))) {
    return { passed: 0, failed: 0, skipped: 1, failures: [], skips: { [suite.unless.reason]: 1 } };
  }
  if (suite.kind === "check") return runCheck(suite);
  return suite.kind === "vitest" ? runVitest(suite) : runCounted(suite);
}

/** One line a suite, and beneath it each failure and each reason for skipping with its count. */
function report(suite: Suite, outcome: Outcome, seconds: number): void {
  const mark = outcome.failed > 0 ? "FAILED" : "ok";
  process.stdout.write(`${mark.padEnd(7)}${suite.name.padEnd(10)} ${countsText(outcome)} (${seconds.toFixed(0)} s)\n`);
  for (const failure of outcome.failures) process.stdout.write(`         failed: ${failure}\n`);
  for (const [reason, count] of Object.entries(outcome.skips)) process.stdout.write(`         skipped ${count}: ${reason}\n`);
}

function chosen(): readonly Suite[] {
  const option = process.argv.slice(2).find((arg) => arg.startsWith("--only="));
  if (option === undefined) return suites;
  const names = option.slice("--only=".length).split(",");
  const unknown = names.filter((name) => !suites.some((suite) => suite.name === name));
  if (unknown.length === 0) return suites.filter((suite) => names.includes(suite.name));
  console.error(`no suite ${unknown.join(", ")}; there are: ${suites.map((suite) => suite.name).join(", ")}`);
  process.exit(2);
}

async function main(): Promise<void> {
  const started = Date.now();
  const rows: { readonly suite: Suite; readonly outcome: Outcome; readonly seconds: number }[] = [];
  for (const suite of chosen()) {
    const begun = Date.now();
    process.stdout.write(`\n== ${suite.name}: ${suite.about}\n`);
    const outcome = await runSuite(suite);
    const row = { suite, outcome, seconds: (Date.now() - begun) / 1000 };
    rows.push(row);
    report(row.suite, row.outcome, row.seconds);
  }
  process.stdout.write(`\n== all suites (${((Date.now() - started) / 60_000).toFixed(1)} min)\n`);
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const { suite, outcome, seconds } of rows) {
    report(suite, outcome, seconds);
    total.passed += outcome.passed;
    total.failed += outcome.failed;
    total.skipped += outcome.skipped;
  }
  process.stdout.write(`${countsText(total)}\n`);
  process.exitCode = total.failed > 0 ? 1 : 0;
}

await main();
