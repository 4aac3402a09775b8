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

test("keys that nginx takes only together stay together when a third one is at fault", async () => {
  const wanted = set({ "proxy-buffer-size": "16k", "proxy-busy-buffers-size": "24k", "gzip-disable": "(" });
  const both = (s: Settings) => (s["proxy-buffer-size"] === "16k") === (s["proxy-busy-buffers-size"] === "24k");
  const test = async (s: Settings) => (s["gzip-disable"] === "(" ? "bad expression" : both(s) ? undefined : "they do not fit");
  const result = await isolate(wanted, defaultSettings, test);
  expect(result.refused).toEqual([{ key: "gzip-disable", reason: "bad expression" }]);
  expect(result.settings).toMatchObject({ "proxy-buffer-size": "16k", "proxy-busy-buffers-size": "24k" });
});

test("equal settings need no test", async () => {
  let asked = 0;
  await isolate(set({}), defaultSettings, async () => {
    asked += 1;
    return undefined;
  });
  expect(asked).toBe(0);
});
