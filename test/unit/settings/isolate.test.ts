import { expect, test } from "vitest";
import { isolate } from "../../../control/apply/isolate.ts";
import { defaultSettings, type Settings } from "../../../control/catalog/settings.ts";

function set(over: Partial<Settings>): Settings {
  return { ...defaultSettings, ...over };
}

test("only the keys at fault keep their value of before", async () => {
  const wanted = set({ "gzip-level": 9, "gzip-disable": "(", "server-tokens": true });
  const result = await isolate(wanted, defaultSettings, async (s) => (s["gzip-disable"] === "(" ? "bad expression" : undefined));
  expect(result.refused).toEqual([{ key: "gzip-disable", reason: "bad expression" }]);
  expect(result.settings["gzip-level"]).toBe(9);
  expect(result.settings["server-tokens"]).toBe(true);
  expect(result.settings["gzip-disable"]).toBe(defaultSettings["gzip-disable"]);
});

test("a key that needs a later one is taken once that one is", async () => {
  const wanted = set({ "proxy-buffer-size": "16k", "worker-processes": "2" });
  const needs = async (s: Settings) => (s["proxy-buffer-size"] === "16k" && s["worker-processes"] !== "2" ? "too early" : undefined);
  const result = await isolate(wanted, defaultSettings, needs);
  expect(result.refused).toEqual([]);
  expect(result.settings["proxy-buffer-size"]).toBe("16k");
});

test("equal settings need no test", async () => {
  let asked = 0;
  await isolate(set({}), defaultSettings, async () => {
    asked += 1;
    return undefined;
  });
  expect(asked).toBe(0);
});
