/** Settings, flags and profiles → the view that nginx.conf is rendered from. */

import { availableParallelism } from "node:os";
import type { MetricsSettings } from "../../lua-src/wire.ts";
import { type Settings, settingDirectives } from "../catalog/settings.ts";
import { errorPageDirectives } from "../features/custom-errors.ts";
import { wafDirectives } from "../features/waf.ts";
import type { ConfBasis } from "../model/conf-basis.ts";
import { chainsAddresses } from "./client-chain.ts";
import { fileDirectives } from "./conf-files.ts";
import { httpDirectives } from "./conf-http.ts";
import { accessLog, httpErrorLog, logPath } from "./conf-logs.ts";
import { can, optionalModules } from "./conf-modules.ts";
import { configurationBodyLimit, dictionarySizes, workerLimits } from "./conf-sizes.ts";
import type {
  Argument,
  ConfPaths,
  ConfView,
  Directive,
  Forwarded,
  Listen,
  NginxFeatures,
  Profile,
  StreamScript,
  VariableMap,
} from "./conf-view.ts";
import { type GeoFile, geoDatabases } from "./geoip.ts";
import { internalLocations } from "./internal.ts";
import type { ConfParts } from "./plan.ts";
import { streamView } from "./stream.ts";

/** What does not come from the user's objects. */
export interface ConfSurroundings {
  readonly paths: Omit<ConfPaths, "errorLog">;
  /** See run/nginx-install.ts. */
  readonly optionalModules: Readonly<Record<string, string>>;
  /** Mode 0700; files that nginx.conf names. */
  readonly filesDir: string;
  /** The databases that the flags ask for and those of them that are there. */
  readonly geoip: () => { readonly folder: string; readonly editions: readonly string[]; readonly files: readonly GeoFile[] };
  /** Text that only this controller and its nginx know, the same after a restart. */
  readonly secret: string;
  /** Hard limit of open files. */
  readonly openFiles: number;
  /** Folder that stands for /var/log/nginx. */
  readonly logDir: string;
  readonly user?: string;
  readonly features: NginxFeatures;
  readonly ports: { readonly http: number; readonly https: number; readonly status: number; readonly defaultServer: number };
  /** --ssl-passthrough-proxy-port with --enable-ssl-passthrough, where this nginx can do it. */
  readonly passthroughPort?: number;
  /** Endpoints of TCP and UDP services change without a reload. Absent: this nginx cannot. */
  readonly streamScript?: StreamScript;
  readonly healthPath: string;
  readonly ipv6: boolean;
  readonly metrics?: MetricsSettings;
  readonly verbosity: number;
  /** Name servers as nginx's resolver wants them. */
  readonly resolvers: readonly string[];
}

export function confView(basis: ConfBasis, parts: ConfParts, around: ConfSurroundings): ConfView {
  const profiles = [...parts.profiles.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  const { settings } = basis;
  const sizes = dictionarySizes(settings);
  const limits = workerLimits(settings, around.openFiles);
  const errorLogLevel = around.verbosity >= 5 ? "debug" : settings["error-log-level"];
  const stream = streamView(basis.streams, settings, {
    available: around.features.stream,
    passthrough: around.passthroughPort === undefined ? undefined : { httpsPort: around.ports.https, proxyPort: around.passthroughPort },
    script: around.streamScript,
    passthroughSocket: around.paths.passthroughSocket,
    logPath: (path) => logPath(path, around.logDir),
  });
  return {
    paths: {
      ...around.paths,
      modules: [...around.paths.modules, ...optionalModules(settings, parts, around)],
      errorLog: logPath(settings["error-log-path"], around.logDir),
    },
    ...(around.user === undefined ? {} : { user: around.user }),
    workerProcesses: settings["worker-processes"] === "auto" ? availableParallelism() : Number(settings["worker-processes"]),
    errorLogLevel,
    features: around.features,
    listens: listens(settings, around),
    http2: settings["use-http2"],
    httpsPort: around.ports.https,
    statusPort: around.ports.status,
    defaultServerPort: around.ports.defaultServer,
    healthPath: around.healthPath,
    dictionaries: sizes,
    configurationBodyLimit: configurationBodyLimit(sizes),
    main: [
      { name: "daemon", args: ["off"] },
      // By their working directory our processes are told from any other nginx.
      { name: "working_directory", args: [around.paths.runtimeDir] },
      ...settingDirectives(settings, "main"),
      limits.main,
    ],
    events: [
      limits.events,
      ...settingDirectives(settings, "events"),
      ...settings["debug-connections"].map((network) => ({ name: "debug_connection", args: [network] })),
    ],
    http: [
      ...settingDirectives(settings, "http"),
      ...httpDirectives(settings, around),
      ...[...(can("enable-modsecurity", settings, around) ? wafDirectives(settings) : []), ...fileDirectives(settings)].map((d) =>
        placed(d, around.filesDir),
      ),
      ...httpErrorLog(settings, errorLogLevel),
    ],
    server: [...errorPages(settings), ...bandwidth(settings), ...altSvc(settings, around).server],
    maps: altSvc(settings, around).maps,
    geo: can("use-geoip2", settings, around) ? geoDatabases(around.geoip().files, settings["geoip2-autoreload-in-minutes"]) : [],
    accessLog: accessLog(settings, around.logDir),
    forwarded: forwarded(settings, around),
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
    servers: [...parts.servers.values()],
    profiles: profiles.map((profile) => withPaths(profile, around.filesDir)),
    internal: internalLocations,
    ...(stream === undefined ? {} : { stream }),
    ...(around.metrics === undefined ? {} : { metrics: around.metrics }),
    snippets: confSnippets(settings, parts),
  };
}

function confSnippets(settings: Settings, parts: ConfParts): ConfView["snippets"] {
  const of = (key: "main-snippet" | "http-snippet" | "server-snippet" | "location-snippet" | "stream-snippet") =>
    settings[key].trim() === "" ? [] : [{ snippet: settings[key] }];
  return {
    main: of("main-snippet"),
    http: of("http-snippet"),
    server: of("server-snippet"),
    location: of("location-snippet"),
    stream: [...[...parts.streams.values()].map((snippet) => ({ snippet })), ...of("stream-snippet")],
  };
}

function placed(directive: Directive, filesDir: string): Directive {
  const args = directive.args.map((a): Argument => (typeof a === "object" && "file" in a ? { literal: `${filesDir}/${a.file}` } : a));
  return { name: directive.name, args };
}

function withPaths(profile: Profile, filesDir: string): Profile {
  return { ...profile, directives: profile.directives.map((d) => placed(d, filesDir)) };
}

function forwarded(settings: Settings, around: ConfSurroundings): Forwarded {
  return {
    useForwardedHeaders: settings["use-forwarded-headers"],
    useProxyProtocol: settings["use-proxy-protocol"],
    enableRealIp: settings["enable-real-ip"],
    computeFullForwardedFor: settings["compute-full-forwarded-for"],
    forwardedForHeader: settings["forwarded-for-header"],
    forwardedHostHeader: settings["forwarded-host-header"],
    trusted: settings["proxy-real-ip-cidr"],
    generateRequestId: settings["generate-request-id"],
    addOriginalUri: settings["proxy-add-original-uri-header"],
    ...chain(settings, around),
  };
}

function chain(settings: Settings, around: ConfSurroundings): Pick<Forwarded, "chain"> {
  if (!chainsAddresses(settings, around.passthroughPort !== undefined)) return {};
  const secretHeader = `X-Sluice-Chain-${around.secret}`;
  const upstreamHeader = settings["forwarded-for-proxy-protocol-header"];
  return { chain: { secretHeader, ...(settings["use-proxy-protocol"] ? { upstreamHeader } : {}) } };
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
  const plain = { ...common, port: around.ports.http, ssl: false };
  if (around.passthroughPort === undefined) {
    return [plain, { ...common, port: around.ports.https, ssl: true, ...(http3(settings, around) ? { quic: true } : {}) }];
  }
  // nobody but the stream part may say who the client is
  const inner = { addresses: ["127.0.0.1"], ipv6: false, reuseport: common.reuseport, proxyProtocol: true };
  return [plain, { ...inner, port: around.passthroughPort, ssl: true }];
}

/** UDP carries no PROXY line, and the TLS passthrough reads none of it. */
function http3(settings: Settings, around: ConfSurroundings): boolean {
  const able = around.features.http3 === true && around.passthroughPort === undefined && !settings["use-proxy-protocol"];
  return settings["use-http3"] && able;
}

/** Clients learn of HTTP/3 from an answer over TLS. */
function altSvc(settings: Settings, around: ConfSurroundings): { readonly maps: VariableMap[]; readonly server: Directive[] } {
  if (!http3(settings, around)) return { maps: [], server: [] };
  const offer = `h3=":${around.ports.https}"; ma=86400`;
  return {
    maps: [{ source: "$https", target: "sluice_alt_svc", entries: [{ key: "on", value: { literal: offer } }] }],
    server: [{ name: "add_header", args: ["Alt-Svc", "$sluice_alt_svc", "always"] }],
  };
}

function useIpv6(settings: Settings, around: ConfSurroundings): boolean {
  return around.ipv6 && !settings["disable-ipv6"];
}
