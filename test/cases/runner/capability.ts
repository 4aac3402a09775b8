// What this machine can do of what cases need.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Need } from "./case";

const MODULE_FOLDERS = process.env.NGINX_MODULES?.split(":") ?? [
  "/usr/lib/nginx/modules",
  "/usr/share/nginx/modules",
  "/usr/local/openresty/nginx/modules",
];

function hasModule(...names: readonly string[]): boolean {
  return MODULE_FOLDERS.some((folder) => names.some((name) => existsSync(join(folder, name))));
}

function buildOptions(): string {
  return spawnSync(process.env.NGINX_BINARY ?? "nginx", ["-V"], { encoding: "utf8" }).stderr ?? "";
}

/** "1.22.1" */
export function nginxVersion(): string {
  return /nginx version: \w+\/([\d.]+)/.exec(buildOptions())?.[1] ?? "0";
}

/** Why a need cannot be met, by need; a need that is not listed can. */
export function missingCapabilities(assume: readonly Need[], without: readonly Need[]): ReadonlyMap<Need, string> {
  const built = buildOptions();
  const missing = new Map<Need, string>();
  const demand = (need: Need, met: boolean, reason: string): void => {
    if (!met) missing.set(need, reason);
  };
  demand("modsecurity", hasModule("ngx_http_modsecurity_module.so"), "nginx has no ModSecurity module");
  demand("geoip", hasModule("ngx_http_geoip2_module.so"), "nginx has no GeoIP2 module");
  demand("brotli", hasModule("ngx_http_brotli_filter_module.so"), "nginx has no brotli module");
  demand("stream", hasModule("ngx_stream_module.so") || /--with-stream(\s|$)/m.test(built), "nginx has no stream module");
  demand("http3", built.includes("http_v3"), "nginx is built without HTTP/3");
  for (const need of assume) missing.delete(need);
  for (const need of without) missing.set(need, "switched off by --without");
  return missing;
}
