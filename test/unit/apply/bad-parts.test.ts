import { expect, test } from "vitest";
import { BadParts, serves } from "../../../control/apply/bad-parts.ts";
import { resolveSettings } from "../../../control/catalog/settings.ts";
import { builtInParts, type ConfParts } from "../../../control/plan/plan.ts";

const settings = resolveSettings({}, { kind: "ConfigMap", namespace: "", name: "" }).values;

function profile(id: string, requires?: readonly string[]) {
  return { id, family: "http" as const, directives: [], ...(requires === undefined ? {} : { requires }) };
}

function parts(ids: readonly string[], servers: readonly string[] = [], needing: readonly string[] = []): ConfParts {
  const own = [...ids.map((id) => profile(id)), ...needing.map((key) => profile(`of ${key}`, [key]))];
  return {
    profiles: new Map([...builtInParts.profiles, ...own.map((p): [string, typeof p] => [p.id, p])]),
    servers: new Map(servers.map((key) => [key, { names: [key], snippet: "" }])),
    streams: new Map(),
  };
}

test("only what nginx refuses is left out, with what depends on it, and few tests find it", async () => {
  const ids = Array.from({ length: 64 }, (_, i) => `p${i}`);
  const wanted = parts(ids, ["server a", "server b"], ["server a", "server b"]);
  const bad = new BadParts();
  let tests = 0;
  await bad.find(wanted, settings, (tried) => {
    tests += 1;
    const refused = tried.profiles.has("p17") || tried.servers.has("server b");
    return Promise.resolve(refused ? "unknown directive" : undefined);
  });
  const left = bad.without(wanted, settings);
  expect(left.profiles.size).toBe(wanted.profiles.size - 2);
  expect([left.profiles.has("p17"), left.profiles.has("of server b"), left.profiles.has("of server a")]).toEqual([false, false, true]);
  expect([...left.servers.keys()]).toEqual(["server a"]);
  expect(tests).toBeLessThan(20);
});

test("other settings may make it good again", async () => {
  const bad = new BadParts();
  const wanted = parts(["p1"]);
  await bad.find(wanted, settings, () => Promise.resolve("no"));
  expect(bad.without(wanted, settings).profiles.has("p1")).toBe(false);
  expect(bad.without(wanted, { ...settings }).profiles.has("p1")).toBe(true);
});

test("unused profiles may stay, server blocks may not", () => {
  expect(serves(parts(["a", "b"]), parts(["a"]))).toBe(true);
  expect(serves(parts(["a"]), parts(["a", "b"]))).toBe(false);
  expect(serves(parts([], ["server a"]), parts([]))).toBe(false);
  expect(serves(parts([], ["server a"]), parts([], ["server a"]))).toBe(true);
});
