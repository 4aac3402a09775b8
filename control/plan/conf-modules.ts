/** Modules of nginx that are loaded only where a setting asks for them, and what of the settings lacks its means. */

import type { Settings } from "../catalog/settings.ts";
import type { FindingCode } from "../model/finding.ts";
import type { ConfSurroundings } from "./conf.ts";
import type { ConfParts } from "./plan.ts";

interface Wanted {
  readonly key: keyof Settings;
  /** File names without ".so"; the first one is what the key needs. */
  readonly modules: readonly [string, ...string[]];
  /** Debian package of the first. */
  readonly package: string;
}

const wafModule = "ngx_http_modsecurity_module";

const wishes: readonly Wanted[] = [
  {
    key: "enable-brotli",
    modules: ["ngx_http_brotli_filter_module", "ngx_http_brotli_static_module"],
    package: "libnginx-mod-http-brotli-filter",
  },
  { key: "enable-modsecurity", modules: [wafModule], package: "libnginx-mod-http-modsecurity" },
  { key: "use-geoip2", modules: ["ngx_http_geoip2_module"], package: "libnginx-mod-http-geoip2" },
];

/** The key is on and this nginx can do it. */
export function can(key: "enable-brotli" | "enable-modsecurity" | "use-geoip2", settings: Settings, around: ConfSurroundings): boolean {
  const wish = wishes.find((w) => w.key === key);
  return settings[key] && wish !== undefined && wish.modules[0] in around.optionalModules;
}

/** Full paths, in load order. */
export function optionalModules(settings: Settings, parts: ConfParts, around: ConfSurroundings): string[] {
  const names = new Set<string>(wishes.filter((w) => settings[w.key] === true).flatMap((w) => w.modules));
  if ([...parts.profiles.values()].some((p) => p.directives.some((d) => d.name === "modsecurity"))) names.add(wafModule);
  return Object.entries(around.optionalModules).flatMap(([name, path]) => (names.has(name) ? [path] : []));
}

export interface Lack {
  readonly key: keyof Settings;
  readonly code: FindingCode;
  readonly text: string;
}

/** Settings that parse and still have no effect on this machine. */
export function lacking(settings: Settings, around: ConfSurroundings): Lack[] {
  const out: Lack[] = [];
  for (const { key, modules, package: name } of wishes) {
    if (settings[key] !== true || modules[0] in around.optionalModules) continue;
    out.push({ key, code: "module-missing", text: `this nginx has no ${modules[0]} (Debian: ${name}); ${key} has no effect` });
  }
  if (can("use-geoip2", settings, around)) {
    const { folder, editions, files } = around.geoip();
    const missing = editions.filter((e) => !files.some((f) => f.edition === e));
    if (missing.length > 0) {
      const text = `${missing.map((e) => `${e}.mmdb`).join(", ")} is not in ${folder}; its variables are not there`;
      out.push({ key: "use-geoip2", code: "database-missing", text });
    }
  }
  const noHttp3 = settings["use-http3"] ? http3Lack(settings, around) : undefined;
  if (noHttp3 !== undefined) out.push({ key: "use-http3", ...noHttp3 });
  if (settings["enable-syslog"] && settings["syslog-host"] === "") {
    out.push({ key: "enable-syslog", code: "setting-invalid", text: "syslog-host is not set; the logs go to their files" });
  }
  return out;
}

function http3Lack(settings: Settings, around: ConfSurroundings): Omit<Lack, "key"> | undefined {
  if (around.features.http3 !== true) {
    return { code: "module-missing", text: "this nginx is built without HTTP/3 (Debian 13's has it); use-http3 has no effect" };
  }
  if (settings["use-proxy-protocol"]) {
    return { code: "setting-invalid", text: "use-proxy-protocol is on, and UDP carries no PROXY line: HTTP/3 is not served" };
  }
  if (around.passthroughPort !== undefined) {
    return { code: "setting-invalid", text: "--enable-ssl-passthrough is on, which cannot read HTTP/3: it is not served" };
  }
  return undefined;
}
