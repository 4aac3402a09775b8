/** A machine without optional modules and databases. */
import type { ConfSurroundings } from "../../../control/plan/conf.ts";

export function surroundingsOfTest(): ConfSurroundings {
  return {
    paths: {
      runtimeDir: "/run/t",
      luaDir: "/lua",
      modules: [],
      socket: "/run/t/s.sock",
      passthroughSocket: "/run/t/p.sock",
      pid: "/run/t/nginx.pid",
      tempDir: "/run/t/temp",
      defaultCertificate: "/run/t/c.pem",
      defaultKey: "/run/t/k.pem",
    },
    optionalModules: {},
    filesDir: "/run/t/files",
    geoip: () => ({ folder: "/g", editions: ["GeoLite2-City"], files: [] }),
    secret: "abc",
    openFiles: 65_536,
    logDir: "/var/log/nginx",
    features: { http2Directive: false, headersMore: true, stream: false },
    ports: { http: 80, https: 443, status: 10_246, defaultServer: 8181 },
    healthPath: "/healthz",
    ipv6: false,
    verbosity: 0,
    resolvers: [],
  };
}
