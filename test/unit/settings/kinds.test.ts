import { expect, test } from "vitest";
import { defaultSettings, resolveSettings } from "../../../control/catalog/settings.ts";

const about = { kind: "ConfigMap", namespace: "default", name: "config" };

function read(data: Record<string, string>) {
  return resolveSettings(data, about);
}

test("dictionaries: megabytes without a unit, bad items left out and named", () => {
  const { values, findings } = read({ "lua-shared-dicts": "configuration_data: 30, own:100k, huge: 900000, luaconfig: 5, x y" });
  expect(values["lua-shared-dicts"]).toEqual({ configuration_data: 30 * 1024 * 1024, own: 100 * 1024 });
  expect(findings).toHaveLength(1);
  expect(findings[0]?.text).toMatch(/huge: 900000.*luaconfig.*x y/);
});

test("a list of trusted proxies without one good item trusts nobody", () => {
  const { values, findings } = read({ "proxy-real-ip-cidr": "everybody" });
  expect(values["proxy-real-ip-cidr"]).toEqual([]);
  expect(findings.map((f) => f.at)).toEqual(["data.proxy-real-ip-cidr"]);
});

test("ticket keys are 48 or 80 bytes", () => {
  for (const [bytes, taken] of [
    [48, true],
    [80, true],
    [47, false],
    [64, false],
  ] as const) {
    const { findings } = read({ "ssl-session-ticket-key": Buffer.alloc(bytes, 1).toString("base64") });
    expect(findings.length === 0).toBe(taken);
  }
  expect(read({ "ssl-session-ticket-key": "not base64!" }).findings).toHaveLength(1);
});

test("a bad value is a finding and the default holds; other keys are not touched", () => {
  const { values, findings } = read({ "gzip-level": "12", "use-gzip": "true", "hsts-max-age": "-1" });
  expect(values["gzip-level"]).toBe(defaultSettings["gzip-level"]);
  expect(values["use-gzip"]).toBe(true);
  expect(findings.map((f) => f.at)).toEqual(["data.gzip-level", "data.hsts-max-age"]);
});
