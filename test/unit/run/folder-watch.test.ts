import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "vitest";
import { watchFolder } from "../../../control/run/folder-watch.ts";
import { createLogger } from "../../../control/run/logger.ts";

const base = mkdtempSync(join(tmpdir(), "sluice-watch-"));
let stop: (() => void) | undefined;

afterEach(() => {
  stop?.();
  rmSync(base, { recursive: true, force: true });
});

/** Waits for the next report after `act`. */
async function reported(reports: { wake: () => void }, act: () => void): Promise<void> {
  const next = new Promise<void>((done) => {
    reports.wake = done;
  });
  act();
  await next;
}

test("a folder that comes later is noticed, its files too, and again after it was removed", async () => {
  const folder = join(base, "etc/controller/geoip");
  const reports = { wake: () => {} };
  stop = watchFolder(folder, createLogger(0), () => reports.wake());
  await reported(reports, () => mkdirSync(folder, { recursive: true }));
  await reported(reports, () => writeFileSync(join(folder, "a.mmdb"), "1"));
  await reported(reports, () => rmSync(join(base, "etc"), { recursive: true }));
  await reported(reports, () => mkdirSync(folder, { recursive: true }));
  await reported(reports, () => writeFileSync(join(folder, "b.mmdb"), "2"));
});
