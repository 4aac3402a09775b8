/** Flags and machine → what nginx.conf needs besides the user's objects. */

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { isIPv6 } from "node:net";
import type { MetricsSettings } from "../../lua-src/wire.ts";
import type { Options } from "../options/flags.ts";
import type { ConfSurroundings } from "../plan/conf.ts";
import type { StreamScript } from "../plan/conf-view.ts";
import type { Layout } from "../run/layout.ts";
import type { NginxInstall } from "../run/nginx-install.ts";
import { geoFiles } from "./databases.ts";

export function surroundings(of: {
  readonly options: Options;
  readonly layout: Layout;
  readonly install: NginxInstall;
  readonly user: string | undefined;
  readonly luaDir: string;
  readonly nameservers: readonly string[];
  readonly streamScript: StreamScript | undefined;
}): ConfSurroundings {
  const { options, layout, install, user } = of;
  const mimeTypes = "/etc/nginx/mime.types";
  return {
    paths: {
      runtimeDir: layout.runtimeDir,
      luaDir: of.luaDir,
      luaLibraries: of.install.luaLibraries,
      modules: install.modules,
      ...(install.optional.ngx_stream_module === undefined ? {} : { streamModule: install.optional.ngx_stream_module }),
      ...(install.optional.ngx_stream_js_module === undefined ? {} : { streamScriptModule: install.optional.ngx_stream_js_module }),
      socket: layout.socket,
      passthroughSocket: layout.passthroughSocket,
      pid: layout.pidFile,
      tempDir: layout.tempDir,
      defaultCertificate: layout.fakeCertificate,
      defaultKey: layout.fakeKey,
      ...(existsSync(mimeTypes) ? { mimeTypes } : {}),
    },
    filesDir: layout.filesDir,
    logDir: options.logDir,
    optionalModules: install.optional,
    geoip: () => geoFiles(options, layout),
    secret: createHash("sha256").update(readFileSync(layout.fakeKey)).digest("hex").slice(0, 20),
    openFiles: hardOpenFiles(),
    ...(user === undefined ? {} : { user }),
    features: install.features,
    ports: { http: options.httpPort, https: options.httpsPort, status: options.statusPort, defaultServer: options.defaultServerPort },
    ...(options.enableSslPassthrough && install.features.stream ? { passthroughPort: options.sslPassthroughProxyPort } : {}),
    ...(of.streamScript === undefined ? {} : { streamScript: of.streamScript }),
    healthPath: options.healthCheckPath,
    ipv6: hasIpv6(),
    ...(options.enableMetrics ? { metrics: metricsSettings(options, layout) } : {}),
    verbosity: options.v,
    resolvers: of.nameservers.map((n) => (isIPv6(n) ? `[${n}]` : n)),
  };
}

/** Hard RLIMIT_NOFILE; what nginx's workers may raise theirs to. */
function hardOpenFiles(): number {
  const row = /^Max open files\s+\S+\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"));
  return row?.[1] === "unlimited" ? Number.POSITIVE_INFINITY : Number(row?.[1] ?? 1024);
}

/** What workers count, by the flags. */
export function metricsSettings(options: Options, layout: Layout): MetricsSettings {
  const prefix = "nginx_ingress_controller_";
  return {
    perHost: options.metricsPerHost,
    undefinedHosts: options.metricsPerUndefinedHost,
    time: options.timeBuckets,
    length: options.lengthBuckets,
    size: options.sizeBuckets,
    skip: options.excludeSocketMetrics.map((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : name)),
    socket: layout.metricsSocket,
  };
}

function hasIpv6(): boolean {
  try {
    return readFileSync("/proc/net/if_inet6", "utf8").trim() !== "";
  } catch {
    return false;
  }
}
