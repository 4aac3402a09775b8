import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseFlags } from "../../../control/options/flags.ts";
import { openLog } from "../../../control/run/log-file.ts";
import type { Logger } from "../../../control/run/logger.ts";

let folder: string;
let shown: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-log-"));
  shown = [];
});

afterEach(() => rmSync(folder, { recursive: true }));

function logger(...flags: readonly string[]): Logger {
  const parsed = parseFlags(flags);
  if ("error" in parsed) throw new Error(parsed.error);
  const { v, klog } = parsed.ok;
  return openLog(v, klog, { write: (line) => shown.push(line) });
}

/** Messages without their heads. */
function messages(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/^.*\] /, "").trimEnd());
}

function fileLines(): string[] {
  return readFileSync(join(folder, "log"), "utf8").split("\n").slice(0, -1);
}

function speak(log: Logger): void {
  log.info("one");
  log.warning("two");
  log.error("three");
}

test("without flags everything goes to stderr, and --log_file alone changes nothing", () => {
  speak(logger());
  speak(logger(`--log_file=${folder}/none/log`));
  expect(messages(shown)).toEqual(["one", "two", "three", "one", "two", "three"]);
});

test("--logtostderr=false writes to the file; stderr has what is severe enough", () => {
  const file = `--log_file=${folder}/log`;
  speak(logger("--logtostderr=false", file));
  expect(messages(fileLines())).toEqual(["one", "two", "three"]);
  expect(messages(shown.splice(0))).toEqual(["three"]);
  speak(logger("--logtostderr=false", file, "--stderrthreshold=WARNING"));
  expect(messages(fileLines())).toEqual(["one", "two", "three", "one", "two", "three"]);
  expect(messages(shown.splice(0))).toEqual(["two", "three"]);
  speak(logger("--logtostderr=false", file, "--alsologtostderr"));
  expect(messages(shown.splice(0))).toEqual(["one", "two", "three"]);
  speak(logger("--logtostderr=false"));
  expect(messages(shown)).toEqual(["one", "two", "three"]);
});

test("a full file is begun anew", () => {
  const log = logger("--logtostderr=false", `--log_file=${folder}/log`, "--log_file_max_size=1");
  const long = "x".repeat(400_000);
  for (const name of ["a", "b", "c"]) log.info(`${name}${long}`);
  expect(fileLines().map((line) => /\] (.)x/.exec(line)?.[1])).toEqual(["c"]);
});

test("--vmodule sets the verbosity of single names", () => {
  const log = logger("-v=1", "--vmodule=clus*=5,fold?r=0");
  for (const name of ["cluster", "folder", "apply"]) {
    const named = log.named(name);
    for (const level of [1, 5, 6]) named.debug(level, `${name} ${level}`);
  }
  expect(messages(shown)).toEqual(["cluster 1", "cluster 5", "apply 1"]);
});

test("--skip_headers leaves the message", () => {
  logger("--skip_headers").info("one", { a: 1 });
  expect(shown).toEqual(["one a=1\n"]);
});

test("what cannot be followed names its flag", () => {
  expect(() => logger("--vmodule=x")).toThrow("flag --vmodule: x is not NAME=VERBOSITY");
  expect(() => logger("--stderrthreshold=LOUD")).toThrow("flag --stderrthreshold: LOUD is no severity");
  expect(() => logger("--logtostderr=false", `--log_file=${folder}/none/log`)).toThrow("flag --log_file:");
});
