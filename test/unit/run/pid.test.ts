import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isAlive, readPid } from "../../../control/run/pid.ts";

test("a pid file is read, and what is no number is refused", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-pid-"));
  const file = join(folder, "nginx.pid");
  writeFileSync(file, "4242\n");
  expect(await readPid(file)).toBe(4242);
  for (const text of ["", "0", "-1", "12 13", "x"]) {
    writeFileSync(file, text);
    await expect(readPid(file)).rejects.toThrow("holds no process id");
  }
  rmSync(folder, { recursive: true });
  await expect(readPid(file)).rejects.toThrow("ENOENT");
});

test("this process is alive, one that has ended is not", () => {
  expect(isAlive(process.pid)).toBe(true);
  expect(isAlive(spawnSync("true").pid)).toBe(false);
});
