import { resolve } from "node:path";
import { expect, test } from "vitest";
import { needsRestart } from "../../../control/apply/rebind.ts";
import { renderConf } from "../../../control/apply/render.ts";
import { defaultSettings, resolveSettings, type Settings, settingRows } from "../../../control/catalog/settings.ts";
import { noStreams } from "../../../control/model/stream.ts";
import { type ConfSurroundings, confView } from "../../../control/plan/conf.ts";
import { lacking } from "../../../control/plan/conf-modules.ts";
import { quoteLines } from "../../../control/plan/directive.ts";
import { geoDatabases } from "../../../control/plan/geoip.ts";
import { builtInParts } from "../../../control/plan/plan.ts";
import { surroundingsOfTest } from "./surroundings.ts";

const templateDir = resolve(import.meta.dirname, "../../../nginx");
const about = { kind: "ConfigMap", namespace: "default", name: "config" };

function render(settings: Settings, around: ConfSurroundings = surroundingsOfTest()): string {
  return renderConf(confView({ settings, requestHeaders: [], responseHeaders: [], streams: noStreams }, builtInParts, around), templateDir)
    .text;
}

const malice = ['"', "';", "a; }\nserver {", "x\u0000y", "\\", "${", "$(", "a\tb", "{", "}\r\n", "\u007f", "b\nc", "#", "é"];
// text of the administrator, meant as nginx's own language
const languages = new Set(Object.keys(settingRows).filter((key) => key.endsWith("-snippet")));

test("no text of the ConfigMap becomes a directive of its own", () => {
  const shape = (text: string) => text.replace(/"(?:[^"\\]|\\.)*"/gs, '""').replace(/#.*/g, "");
  const keys = Object.keys(settingRows).filter((k) => !languages.has(k));
  for (const text of malice) {
    const { values } = resolveSettings(Object.fromEntries(keys.map((key) => [key, `${text}}evil on;`])), about);
    expect(shape(render(values)).includes("evil on"), JSON.stringify(text)).toBe(false);
  }
});

test("several lines of log format stay one argument", () => {
  expect(quoteLines('a "b"\n\t$c \\')).toBe('"a \\"b\\"\\n\\t$c \\\\"');
  const text = render({ ...defaultSettings, "log-format-upstream": "one\ntwo\n" });
  expect(text).toContain('log_format sluice "one\\ntwo";');
});

test("words of nginx's maps are plain URLs in skip-access-log-urls", () => {
  expect(render({ ...defaultSettings, "skip-access-log-urls": ["default", "/x", "/x"] })).toMatch(/"?\\\\default"? 0;\s+\/x 0;\s+\}/);
});

test("modules are loaded only where a setting asks for them", () => {
  const around = { ...surroundingsOfTest(), optionalModules: { ngx_http_brotli_filter_module: "/m/brotli.so" } };
  expect(render(defaultSettings, around)).not.toContain("brotli");
  const text = render({ ...defaultSettings, "enable-brotli": true }, around);
  expect(text).toContain("load_module /m/brotli.so;");
  expect(text).toContain("brotli_comp_level 4;");
  expect(render({ ...defaultSettings, "enable-brotli": true })).not.toContain("brotli_comp_level");
});

test("a missing module, database or syslog host is a finding", () => {
  const settings: Settings = { ...defaultSettings, "enable-brotli": true, "use-geoip2": true, "enable-syslog": true };
  expect(lacking(settings, surroundingsOfTest()).map((l) => [l.key, l.code])).toEqual([
    ["enable-brotli", "module-missing"],
    ["use-geoip2", "module-missing"],
    ["enable-syslog", "setting-invalid"],
  ]);
  const withModule = { ...surroundingsOfTest(), optionalModules: { ngx_http_geoip2_module: "/m/geoip2.so" } };
  expect(lacking({ ...defaultSettings, "use-geoip2": true }, withModule).map((l) => l.code)).toEqual(["database-missing"]);
});

test("databases: each variable once, a newer file is a newer conf", () => {
  const [city, asn, isp] = geoDatabases(
    [
      { edition: "GeoLite2-City", path: "/g/City.mmdb", stamp: "1" },
      { edition: "GeoLite2-ASN", path: "/g/ASN.mmdb", stamp: "1" },
      { edition: "GeoIP2-ISP", path: "/g/ISP.mmdb", stamp: "1" },
    ],
    5,
  );
  expect(city?.variables.geoip2_city_country_code).toEqual(["country", "iso_code"]);
  expect(asn?.variables.geoip2_asn).toBeDefined();
  expect(isp?.variables.geoip2_asn).toBeUndefined();
  const around = (stamp: string): ConfSurroundings => ({
    ...surroundingsOfTest(),
    optionalModules: { ngx_http_geoip2_module: "/m/geoip2.so" },
    geoip: () => ({ folder: "/g", editions: ["GeoLite2-ASN"], files: [{ edition: "GeoLite2-ASN", path: "/g/ASN.mmdb", stamp }] }),
  });
  const settings: Settings = { ...defaultSettings, "use-geoip2": true, "geoip2-autoreload-in-minutes": 7 };
  expect(render(settings, around("1"))).toContain("auto_reload 7m;");
  expect(render(settings, around("1"))).not.toBe(render(settings, around("2")));
});

test("workers: files and connections follow the machine's limit unless the keys say otherwise", () => {
  const text = render({ ...defaultSettings, "max-worker-connections": 0 }, { ...surroundingsOfTest(), openFiles: 5024 });
  expect(text).toContain("worker_rlimit_nofile 4000;");
  expect(text).toContain("worker_connections 3000;");
  expect(render(defaultSettings, { ...surroundingsOfTest(), openFiles: 100 })).toContain("worker_rlimit_nofile 1024;");
  expect(render({ ...defaultSettings, "max-worker-open-files": 77 })).toContain("worker_rlimit_nofile 77;");
});

test("name servers: no IPv6 ones where it is off", () => {
  const around = { ...surroundingsOfTest(), resolvers: ["10.0.0.1", "[fd00::1]"], ipv6: true };
  expect(render(defaultSettings, around)).toContain('resolver 10.0.0.1 "[fd00::1]" valid=30s;');
  expect(render({ ...defaultSettings, "disable-ipv6-dns": true }, around)).toContain("resolver 10.0.0.1 valid=30s ipv6=off;");
  expect(render(defaultSettings, { ...around, ipv6: false })).toContain("ipv6=off;");
});

test("listeners that overlap without reuseport need a restart", () => {
  const all = "  listen 80 default_server;\n";
  const one = "  listen 127.0.0.1:80 default_server;\n";
  const two = "  listen 127.0.0.2:80 default_server;\n";
  const shared = (text: string) => text.replace(";", " reuseport;");
  expect(needsRestart(all, one)).toBe(true);
  expect(needsRestart(one, all)).toBe(true);
  expect(needsRestart(one, two)).toBe(false);
  expect(needsRestart(shared(all), shared(one))).toBe(false);
  expect(needsRestart(all, all)).toBe(false);
  expect(needsRestart("  listen 80 default_server;\n", "  listen [::]:80 default_server;\n")).toBe(false);
});

test("use-http3 opens UDP beside TLS where that is possible, and announces it", () => {
  const { values } = resolveSettings({ "use-http3": "true" }, about);
  const plain = surroundingsOfTest();
  const able = { ...plain, features: { ...plain.features, http3: true } };
  const conf = render(values, able);
  expect(conf).toContain("listen 443 quic default_server reuseport;");
  expect(conf).not.toContain("listen 80 quic");
  expect(conf).toMatch(/add_header "?Alt-Svc"? "?\$sluice_alt_svc"? "?always"?;/);
  expect(conf).toMatch(/map "?\$http_host"? "?\$sluice_given_host"?/);
  const { values: proxied } = resolveSettings({ "use-http3": "true", "use-proxy-protocol": "true" }, about);
  const others = [render(values), render(values, { ...able, passthroughPort: 442 }), render(proxied, able), render(defaultSettings, able)];
  for (const other of others) expect(other).not.toMatch(/quic|Alt-Svc|sluice_given_host/i);
  const lacks = (s: Settings, around: ConfSurroundings) => lacking(s, around).map((l) => [l.key, l.code]);
  expect(lacks(values, able)).toEqual([]);
  expect(lacks(values, plain)).toEqual([["use-http3", "module-missing"]]);
  expect(lacks(proxied, able)).toEqual([["use-http3", "setting-invalid"]]);
  expect(lacks(values, { ...able, passthroughPort: 442 })).toEqual([["use-http3", "setting-invalid"]]);
});
