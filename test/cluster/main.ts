/**
 * The cluster suite: builds the control plane's program, enters a network namespace of its own, runs the tests.
 * usage: node build/run.mjs test/cluster/main.ts [test/cluster/FILE…] [vitest arguments…]; KEEP=1 in the environment keeps logs
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { countsText, type Outcome } from "../../build/outcome.ts";
import { runInNamespace } from "./namespace.ts";
import { kubeProgram, NoModules, obstacle } from "./program.ts";

const root = process.env.SLUICE_ROOT!;

function report(outcome: Outcome): void {
  for (const failure of outcome.failures) console.log(`FAILED ${failure}`);
  for (const [reason, count] of Object.entries(outcome.skips)) console.log(`  ${count} × ${reason}`);
  console.log(countsText(outcome));
  process.exitCode = outcome.failed > 0 ? 1 : 0;
}

async function main(): Promise<void> {
  const reason = obstacle();
  if (reason !== undefined) {
    report({ passed: 0, failed: 0, skipped: 1, failures: [], skips: { [reason]: 1 } });
    return;
  }
  let kube: string;
  try {
    kube = await kubeProgram();
  } catch (error) {
    if (!(error instanceof NoModules)) throw error;
    report({ passed: 0, failed: 0, skipped: 1, failures: [], skips: { [error.message]: 1 } });
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "sluice-cluster-suite-"));
  const file = join(folder, "outcome.json");
  const reporters = ["--reporter=verbose", `--reporter=${resolve(root, "build/vitest-outcome.ts")}`];
  const vitest = [resolve(root, "node_modules/vitest/vitest.mjs"), "run", "--no-color", "--no-file-parallelism", ...reporters];
  const given = process.argv.slice(2);
  const files = given.some((word) => word.startsWith("test/cluster")) ? [] : ["test/cluster"];
  runInNamespace([...vitest, ...files, ...given], { SLUICE_OUTCOME: file, SLUICE_KUBE: kube, NO_COLOR: "1" });
  report(JSON.parse(readFileSync(file, "utf8")) as Outcome);
  rmSync(folder, { recursive: true });
}

await main();
