/** Flags and machine → what nginx.conf needs besides the user's objects. */

import { existsSync, readFileSync } from "node:fs";
import { isIPv6 } from "node:net";
import type { Options } from "../options/flags.ts";
import type { ConfSurroundings } from "../plan/conf.ts";
import type { Layout } from "../run/layout.ts";
import type { NginxInstall } from "../run/nginx-install.ts";

export function surroundings(of: {
  readonly options: Options;
  readonly layout: Layout;
  readonly install: NginxInstall;
  readonly user: string | undefined;
  readonly luaDir: string;
  readonly nameservers: readonly string[];
}): ConfSurroundings {
  const { options, layout, install, user } = of;
  const mimeTypes = "/etc/nginx/mime.types";
  return {
    paths: {
      runtimeDir: layout.runtimeDir,
      luaDir: of.luaDir,
      luaLibraries: of.install.luaLibraries,
      modules: install.modules,
      socket: layout.socket,
      pid: layout.pidFile,
      tempDir: layout.tempDir,
      defaultCertificate: layout.fakeCertificate,
      defaultKey: layout.fakeKey,
      ...(existsSync(mimeTypes) ? { mimeTypes } : {}),
    },
    filesDir: layout.filesDir,
    logDir: options.logDir,
    ...(user === undefined ? {} : { user }),
    features: install.features,
    ports: { http: options.httpPort, https: options.httpsPort, status: options.statusPort, defaultServer: options.defaultServerPort },
    healthPath: options.healthCheckPath,
    ipv6: hasIpv6(),
    metrics: options.enableMetrics,
    verbosity: options.v,
    resolvers: of.nameservers.map((n) => (isIPv6(n) ? `[${n}]` : n)),
  };
}

function hasIpv6(): boolean {
  try {
    return readFileSync("/proc/net/if_inet6", "utf8").trim() !== "";
  } catch {
    return false;
  }
}
