import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const root = process.env.SLUICE_ROOT!;

interface Ended {
  readonly code: number | string | null | undefined;
  readonly output: string;
}

function run(args: readonly string[]): Promise<Ended> {
  return new Promise((done) => {
    execFile(process.execPath, ["build/run.mjs", ...args], { cwd: root }, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : error.code, output: stdout + stderr });
    });
  });
}

test("a suite that does not exist is refused with the list of those that do", async () => {
  const { code, output } = await run([resolve(root, "build/suites.ts"), "--only=typos"]);
  expect(code).toBe(2);
  expect(output).toContain("no suite typos; there are: lua, control, types, lint");
});
