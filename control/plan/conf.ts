/** Settings, flags and profiles → the view that nginx.conf is rendered from. */

import { cpus } from "node:os";
import { dictionaries } from "../../lua-src/wire.ts";
import { type Settings, settingDirectives } from "../catalog/settings.ts";
import { errorPageDirectives } from "../features/custom-errors.ts";
import { pairArgs, redirectPair } from "../features/replacement.ts";
import { conditionArgs } from "../features/retries.ts";
import type { ConfBasis } from "../model/conf-basis.ts";
import type { Argument, ConfPaths, ConfView, Directive, Listen, NginxFeatures, Profile } from "./conf-view.ts";

import { internalLocations } from "./internal.ts";

/** What does not come from the user's objects. */
export interface ConfSurroundings {
  readonly paths: Omit<ConfPaths, "errorLog">;
  /** Folder of the files that profiles read. */
  readonly filesDir: string;
  /** Folder that stands for /var/log/nginx. */
  readonly logDir: string;
  readonly user?: string;
  readonly features: NginxFeatures;
  readonly ports: { readonly http: number; readonly https: number; readonly status: number; readonly defaultServer: number };
  readonly healthPath: string;
  readonly ipv6: boolean;
  readonly metrics: boolean;
  readonly verbosity: number;
  /** Name servers as nginx's resolver wants them. */
  readonly resolvers: readonly string[];
}

export function confView(basis: ConfBasis, profiles: readonly Profile[], around: ConfSurroundings): ConfView {
  const { settings } = basis;
  const sizes = dictionarySizes(settings["lua-shared-dicts"]);
  return {
    paths: { ...around.paths, errorLog: logPath(settings["error-log-path"], around.logDir) },
    ...(around.user === undefined ? {} : { user: around.user }),
    workerProcesses: settings["worker-processes"] === "auto" ? cpus().length : Number(settings["worker-processes"]),
    errorLogLevel: around.verbosity >= 5 ? "debug" : settings["error-log-level"],
    features: around.features,
    listens: listens(settings, around),
    http2: settings["use-http2"],
    httpsPort: around.ports.https,
    statusPort: around.ports.status,
    defaultServerPort: around.ports.defaultServer,
    healthPath: around.healthPath,
    dictionaries: sizes,
    configurationBodyLimit: Math.max(sizes.configuration_data ?? 0, sizes.certificate_data ?? 0) + 1024 * 1024,
    main: [
      { name: "daemon", args: ["off"] },
      // By their working directory our processes are told from any other nginx.
      { name: "working_directory", args: [around.paths.runtimeDir] },
      ...settingDirectives(settings, "main"),
      ...openFiles(settings),
    ],
    events: settingDirectives(settings, "events"),
    http: [...settingDirectives(settings, "http"), ...httpDirectives(settings, around)],
    server: [...errorPages(settings), ...bandwidth(settings)],
    maps: [],
    accessLog: accessLog(settings, around.logDir),
    forwarded: {
      useForwardedHeaders: settings["use-forwarded-headers"],
      useProxyProtocol: settings["use-proxy-protocol"],
      enableRealIp: settings["enable-real-ip"],
      computeFullForwardedFor: settings["compute-full-forwarded-for"],
      forwardedForHeader: settings["forwarded-for-header"],
      forwardedHostHeader: settings["forwarded-host-header"],
      trusted: settings["proxy-real-ip-cidr"],
      generateRequestId: settings["generate-request-id"],
      addOriginalUri: settings["proxy-add-original-uri-header"],
    },
    upstreams: {
      keepalive: settings["upstream-keepalive-connections"],
      keepaliveRequests: settings["upstream-keepalive-requests"],
      keepaliveTimeout: `${settings["upstream-keepalive-timeout"]}s`,
      keepaliveTime: settings["upstream-keepalive-time"],
    },
    ...(settings.hsts
      ? {
          hsts: {
            maxAge: String(settings["hsts-max-age"]),
            includeSubdomains: settings["hsts-include-subdomains"],
            preload: settings["hsts-preload"],
          },
        }
      : {}),
    serverTokens: settings["server-tokens"],
    allowBackendServerHeader: settings["allow-backend-server-header"],
    requestHeaders: basis.requestHeaders,
    responseHeaders: basis.responseHeaders,
    profiles: profiles.map((profile) => withPaths(profile, around.filesDir)),
    internal: internalLocations,
    metrics: around.metrics,
    snippets: { main: [], http: [], server: [], location: [] },
  };
}

function withPaths(profile: Profile, filesDir: string): Profile {
  const placed = (a: Argument): Argument => (typeof a === "object" && "file" in a ? { literal: `${filesDir}/${a.file}` } : a);
  return { ...profile, directives: profile.directives.map((d) => ({ name: d.name, args: d.args.map(placed) })) };
}

function errorPages(settings: Settings): Directive[] {
  const codes = settings["custom-http-errors"];
  if (codes.length === 0) return [];
  return errorPageDirectives(codes, !settings["disable-proxy-intercept-errors"]);
}

/** Not at http level: the configuration socket is not to be slowed down. */
function bandwidth(settings: Settings): Directive[] {
  const out: Directive[] = [];
  if (settings["limit-rate"] > 0) out.push({ name: "limit_rate", args: [`${settings["limit-rate"]}k`] });
  if (settings["limit-rate-after"] > 0) out.push({ name: "limit_rate_after", args: [`${settings["limit-rate-after"]}k`] });
  return out;
}

function listens(settings: Settings, around: ConfSurroundings): Listen[] {
  const addresses = [...settings["bind-address"], ...settings["bind-address-ipv4"], ...settings["bind-address-ipv6"]]
    .filter((a) => !(a.includes(":") && !useIpv6(settings, around)))
    .map((a) => (a.includes(":") ? `[${a}]` : a));
  const common = {
    addresses,
    ipv6: useIpv6(settings, around),
    reuseport: settings["reuse-port"],
    proxyProtocol: settings["use-proxy-protocol"],
  };
  return [
    { ...common, port: around.ports.http, ssl: false },
    { ...common, port: around.ports.https, ssl: true },
  ];
}

function useIpv6(settings: Settings, around: ConfSurroundings): boolean {
  return around.ipv6 && !settings["disable-ipv6"];
}

function openFiles(settings: Settings): Directive[] {
  const files = settings["max-worker-open-files"];
  return files > 0 ? [{ name: "worker_rlimit_nofile", args: [files] }] : [];
}

/** Defaults of the retired controller that differ from nginx's own, and keys that make several directives. */
function httpDirectives(settings: Settings, around: ConfSurroundings): Directive[] {
  const conditions = conditionArgs(settings["proxy-next-upstream"], settings["retry-non-idempotent"]);
  const out: Directive[] = [
    { name: "proxy_buffers", args: [Math.max(2, settings["proxy-buffers-number"]), settings["proxy-buffer-size"]] },
    { name: "proxy_next_upstream", args: conditions },
    { name: "grpc_next_upstream", args: conditions },
    { name: "fastcgi_next_upstream", args: conditions.filter((c) => c !== "http_502" && c !== "http_504") },
    { name: "ssl_session_cache", args: [settings["ssl-session-cache"] ? `shared:SSL:${settings["ssl-session-cache-size"]}` : "off"] },
    { name: "port_in_redirect", args: ["off"] },
    { name: "proxy_redirect", args: pairArgs(redirectPair(settings["proxy-redirect-from"], settings["proxy-redirect-to"])) },
  ];
  if (settings["ssl-session-cache"]) out.push({ name: "ssl_session_timeout", args: [settings["ssl-session-timeout"]] });
  if (settings["ssl-ciphers"] !== "") out.push({ name: "ssl_prefer_server_ciphers", args: ["on"] });
  if (settings["use-gzip"]) out.push(...gzip(settings));
  if (settings["allow-backend-server-header"]) {
    for (const family of ["proxy", "grpc", "fastcgi"]) out.push({ name: `${family}_pass_header`, args: ["Server"] });
  }
  for (const header of settings["hide-headers"]) out.push({ name: "proxy_hide_header", args: [header] });
  if (around.resolvers.length > 0) {
    const noIpv6 = settings["disable-ipv6-dns"] ? ["ipv6=off"] : [];
    out.push({ name: "resolver", args: [...around.resolvers, "valid=30s", ...noIpv6] });
  }
  return out;
}

function gzip(settings: Settings): Directive[] {
  const out: Directive[] = [
    { name: "gzip", args: ["on"] },
    { name: "gzip_comp_level", args: [settings["gzip-level"]] },
    { name: "gzip_http_version", args: ["1.1"] },
    { name: "gzip_min_length", args: [settings["gzip-min-length"]] },
    { name: "gzip_types", args: settings["gzip-types"].split(/\s+/).filter((t) => t !== "" && t !== "text/html") },
    { name: "gzip_proxied", args: ["any"] },
    { name: "gzip_vary", args: ["on"] },
  ];
  if (settings["gzip-disable"] !== "") out.push({ name: "gzip_disable", args: [{ literal: settings["gzip-disable"] }] });
  return out;
}

function logPath(path: string, logDir: string): string {
  return path.startsWith("/var/log/nginx/") ? `${logDir}/${path.slice("/var/log/nginx/".length)}` : path;
}

function accessLog(settings: Settings, logDir: string): ConfView["accessLog"] {
  const off = settings["disable-access-log"] || settings["disable-http-access-log"];
  const path = settings["http-access-log-path"] ?? settings["access-log-path"];
  return {
    ...(off ? {} : { target: logPath(path, logDir) }),
    format: settings["log-format-upstream"],
    escape: settings["log-format-escape-none"] ? "none" : settings["log-format-escape-json"] ? "json" : "default",
    params: settings["access-log-params"].split(/\s+/).filter((p) => p !== ""),
    skipUrls: settings["skip-access-log-urls"].map((u) => u.trim()).filter((u) => u !== ""),
  };
}

/** "name: size, name: size": without a unit megabytes; what does not parse is left at its default. */
function dictionarySizes(text: string): Record<string, number> {
  const sizes: Record<string, number> = { ...dictionaries };
  for (const item of text.split(",")) {
    const m = /^\s*([a-z_]+)\s*:\s*(\d{1,6})\s*([km]?)\s*$/i.exec(item);
    if (m === null || !Object.hasOwn(dictionaries, m[1] ?? "")) continue;
    const bytes = Number(m[2]) * (m[3]?.toLowerCase() === "k" ? 1024 : 1024 * 1024);
    if (bytes >= 64 * 1024 && bytes <= 204_800 * 1024) sizes[m[1] ?? ""] = bytes;
  }
  return sizes;
}
