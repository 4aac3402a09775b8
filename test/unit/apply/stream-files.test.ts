import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { StreamEndpoints } from "../../../control/apply/stream-files.ts";

let dir: string;
let now = 0;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "sluice-streams-"));
  now = 0;
});

afterEach(() => rmSync(dir, { recursive: true }));

function services(endpoints: Readonly<Record<string, readonly string[]>>) {
  return new Map(Object.entries(endpoints).map(([key, list]) => [key, list.map((address) => ({ address, port: "53" }))]));
}

test("names that no service needs stay for a while, services and names of a former controller too", () => {
  writeFileSync(join(dir, "TCP-1"), "");
  const files = new StreamEndpoints(dir, () => now);
  files.write(services({ "TCP-53": ["10.0.0.1", "10.0.0.2"], "UDP-53": ["10.0.0.9"] }));
  const [name = ""] = readdirSync(dir).filter((file) => file.length === 16);
  expect(readFileSync(join(dir, "TCP-53"), "utf8")).toBe(`2 ${name}.sluice:53`);
  now = 1000;
  files.write(services({ "TCP-53": ["10.0.0.1", "10.0.0.3"] }));
  expect(readdirSync(dir)).toContain(name);
  now = 30_500;
  files.write(services({ "TCP-53": ["10.0.0.4"] }));
  expect(readdirSync(dir)).toContain(name);
  expect(readdirSync(dir)).not.toContain("TCP-1");
  now = 31_000;
  files.keep(new Set(["TCP-53"]));
  expect(readdirSync(dir)).not.toContain(name);
  now = 100_000;
  files.keep(new Set(["TCP-53"]));
  expect(readdirSync(dir)).toEqual(["TCP-53"]);
});

test("a name that is needed again stays; workers of another user can read all", () => {
  const files = new StreamEndpoints(dir, () => now);
  const first = services({ "TCP-53": ["10.0.0.1", "10.0.0.2"] });
  files.write(first);
  const before = readdirSync(dir);
  files.write(services({ "TCP-53": [] }));
  expect(readFileSync(join(dir, "TCP-53"), "utf8")).toBe("");
  now = 29_000;
  files.write(first);
  now = 100_000;
  files.keep(new Set(["TCP-53"]));
  expect(readdirSync(dir)).toEqual(before);
  for (const file of before) expect(statSync(join(dir, file)).mode & 0o777).toBe(0o644);
});

test("a host is passed through from its file on until it goes, at once and without the files of services", () => {
  const of = (host: string, address: string) => ({ host, address, port: 443 });
  const streamEndpoints = services({ "TCP-53": ["10.0.0.1"] });
  const former = new StreamEndpoints(dir, () => now);
  former.pass([of("gone.test", "10.0.0.8")]);
  const files = new StreamEndpoints(dir, () => now);
  files.pass([of("a.test", "10.0.0.1"), of("b.test", "fd00::1")]);
  files.write(streamEndpoints);
  expect(contents()).toEqual(["10.0.0.1:443", "10.0.0.1:53", "10.0.0.8:443", "[fd00::1]:443"]);
  files.passOnly([of("b.test", "fd00::1")]);
  expect(contents()).toEqual(["10.0.0.1:53", "[fd00::1]:443"]);
  files.pass([of("b.test", "10.0.0.2")]);
  now = 100_000;
  files.write(streamEndpoints);
  expect(contents()).toEqual(["10.0.0.1:53", "10.0.0.2:443"]);
});

function contents(): readonly string[] {
  return readdirSync(dir)
    .map((file) => readFileSync(join(dir, file), "utf8").replace(/^1 /, ""))
    .sort();
}
