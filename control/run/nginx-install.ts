/** Which nginx this machine has: the binary, its version, the modules it can load. */

import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import type { NginxFeatures } from "../plan/conf-view.ts";

export interface NginxInstall {
  readonly binary: string;
  /** "1.22.1" */
  readonly version: string;
  readonly openresty: boolean;
  /** Always loaded; full paths in load order. */
  readonly modules: readonly string[];
  /** Lua libraries of an nginx that lies in a folder of its own: those of the machine fit another nginx. */
  readonly luaLibraries: string | undefined;
  /** Loaded where a setting asks for them: full path by file name without ".so", in load order. */
  readonly optional: Readonly<Record<string, string>>;
  readonly features: NginxFeatures;
}

const usual = [
  "/usr/sbin/nginx",
  "/usr/local/openresty/nginx/sbin/nginx",
  "/usr/bin/openresty",
  "/usr/bin/nginx",
  "/usr/local/nginx/sbin/nginx",
];

/** In the order in which nginx wants them; those that are not there are left out. */
const wanted = [
  "ndk_http_module.so",
  "ngx_http_lua_module.so",
  "ngx_http_headers_more_filter_module.so",
  "ngx_http_brotli_filter_module.so",
  "ngx_http_brotli_static_module.so",
  "ngx_http_geoip2_module.so",
  "ngx_http_modsecurity_module.so",
  "ngx_otel_module.so",
  "ngx_stream_module.so",
  "ngx_stream_js_module.so",
];

/** Modules that are loaded only when a setting asks for them; their presence alone costs memory or start-up time. */
const onDemand = new Set([
  "ngx_http_brotli_filter_module.so",
  "ngx_http_brotli_static_module.so",
  "ngx_http_geoip2_module.so",
  "ngx_http_modsecurity_module.so",
  "ngx_otel_module.so",
  "ngx_stream_module.so",
  "ngx_stream_js_module.so",
]);

/** A sentence for the log when this machine has no usable nginx. */
export class NoNginx extends Error {}

/** What is not given comes from $NGINX_BINARY and $NGINX_MODULES, else from the usual places. Throws NoNginx. */
export function findNginx(
  givenBinary: string,
  givenFolders: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): NginxInstall {
  const binary = givenBinary || (env.NGINX_BINARY ?? "");
  const moduleFolders = givenFolders.length > 0 ? givenFolders : (env.NGINX_MODULES ?? "").split(delimiter).filter((f) => f !== "");
  const path = binary === "" ? search() : binary;
  if (path === undefined)
    throw new NoNginx("no nginx found: install nginx and libnginx-mod-http-lua, or name the binary with --nginx-binary");
  const text = versionText(path);
  const version = /nginx version: \w+\/(\d+\.\d+\.\d+)/.exec(text)?.[1];
  if (version === undefined) throw new NoNginx(`${path} does not tell its version`);
  const openresty = /nginx version: openresty\//.test(text) || text.includes("lua-nginx-module") || text.includes("ngx_lua-");
  const folders = moduleFolders.length > 0 ? moduleFolders : defaultFolders(text);
  const found = wanted.flatMap((name) => folders.map((f) => join(f, name)).find((f) => existsSync(f)) ?? []);
  const modules = found.filter((f) => !onDemand.has(basename(f)));
  if (!openresty && !modules.some((m) => m.endsWith("ngx_http_lua_module.so"))) {
    throw new NoNginx(`${path} has no Lua module in ${folders.join(", ")}: install libnginx-mod-http-lua and lua-resty-core`);
  }
  return {
    binary: path,
    version,
    openresty,
    modules,
    luaLibraries: librariesBeside(modules),
    optional: Object.fromEntries(found.filter((f) => onDemand.has(basename(f))).map((f) => [basename(f, ".so"), f])),
    features: {
      http2Directive: atLeast(version, "1.25.1"),
      headersMore: openresty || modules.some((m) => m.endsWith("ngx_http_headers_more_filter_module.so")),
      http3: text.includes("--with-http_v3_module"),
      stream: /--with-stream(\s|$)/.test(text) || found.some((f) => basename(f) === "ngx_stream_module.so"),
    },
  };
}

/** PREFIX/lib/nginx/modules goes with PREFIX/share/lua/5.1. */
function librariesBeside(modules: readonly string[]): string | undefined {
  const lua = modules.find((m) => m.endsWith("ngx_http_lua_module.so"));
  const folder = lua === undefined ? undefined : join(dirname(lua), "../../../share/lua/5.1");
  return folder !== undefined && folder !== "/usr/share/lua/5.1" && existsSync(join(folder, "resty/core.lua")) ? folder : undefined;
}

function search(): string | undefined {
  const onPath = (process.env.PATH ?? "").split(delimiter).flatMap((d) => (d === "" ? [] : [join(d, "nginx"), join(d, "openresty")]));
  return [...onPath, ...usual].find(executable);
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function versionText(path: string): string {
  // The version goes to standard error; no shell, which the image does not have.
  const result = spawnSync(path, ["-V"], { encoding: "utf8", timeout: 10_000 });
  if (result.error !== undefined) throw new NoNginx(`${path} -V fails: ${result.error.message}`);
  return `${result.stdout}${result.stderr}`;
}

function defaultFolders(text: string): string[] {
  const built = /--modules-path=(\S+)/.exec(text)?.[1];
  return [...(built === undefined ? [] : [built]), "/usr/lib/nginx/modules", "/usr/local/openresty/nginx/modules"];
}

export function atLeast(version: string, wanted: string): boolean {
  const a = version.split(".").map(Number);
  const b = wanted.split(".").map(Number);
  for (let i = 0; i < 3; i++) {
    const d = (a[i] ?? 0) - (b[i] ?? 0);
    if (d !== 0) return d > 0;
  }
  return true;
}
