/** Vitest reporter: writes counts, failures and skips with their reasons to the file named by SLUICE_OUTCOME. */

import { writeFileSync } from "node:fs";
import type { Reporter, TestCase, TestModule, TestSuite } from "vitest/node";
import type { Outcome } from "./outcome.ts";

/** Vitest calls a test skipped when a hook before it has failed. */
function hookFailed(test: TestCase): boolean {
  for (let parent: TestSuite | TestModule = test.parent; ; parent = parent.parent) {
    if (parent.errors().length > 0) return true;
    if (parent.type === "module") return false;
  }
}

function record(test: TestCase, outcome: Outcome): void {
  const result = test.result();
  const name = `${test.module.relativeModuleId}: ${test.fullName}`;
  if (result.state === "passed") outcome.passed++;
  else if (result.state === "failed" || hookFailed(test)) {
    outcome.failed++;
    outcome.failures.push(name);
  } else {
    outcome.skipped++;
    const reason = (result.state === "skipped" ? result.note : undefined) ?? "no reason given";
    outcome.skips[reason] = (outcome.skips[reason] ?? 0) + 1;
  }
}

/** A file that cannot be loaded, or whose hooks fail, has no failed test of its own and still counts. */
function recordModule(module: TestModule, outcome: Outcome): void {
  const before = outcome.failed;
  for (const test of module.children.allTests()) record(test, outcome);
  if (!module.ok() && outcome.failed === before) {
    outcome.failed++;
    outcome.failures.push(`${module.relativeModuleId}: the file failed as a whole`);
  }
}

export default class OutcomeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const file = process.env.SLUICE_OUTCOME;
    if (file === undefined) throw new Error("SLUICE_OUTCOME names no file");
    const outcome: Outcome = { passed: 0, failed: 0, skipped: 0, failures: [], skips: {} };
    for (const module of modules) recordModule(module, outcome);
    if (errors.length > 0) {
      outcome.failed++;
      outcome.failures.push(`${errors.length} errors outside of tests`);
    }
    writeFileSync(file, JSON.stringify(outcome));
  }
}
