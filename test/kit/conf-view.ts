/** A ConfView with the defaults of a fresh controller, for tests and benchmarks of the data plane. */
import { join, resolve } from "node:path";
import type { ConfView, Directive } from "../../control/plan/conf-view.ts";
import { dictionaries } from "../../lua-src/wire.ts";

const root = process.env.SLUICE_ROOT ?? resolve(import.meta.dirname, "../..");

export const projectFiles = { luaDir: join(root, "dist/lua"), templateDir: join(root, "nginx") };

function directive(name: string, ...args: Directive["args"]): Directive {
  return { name, args };
}

const httpDefaults: readonly Directive[] = [
  directive("default_type", "text/html"),
  directive("server_tokens", "off"),
  directive("keepalive_timeout", "75s"),
  directive("keepalive_requests", 1000),
  directive("client_body_buffer_size", "8k"),
  directive("client_max_body_size", "1m"),
  directive("large_client_header_buffers", 4, "8k"),
  directive("variables_hash_bucket_size", 256),
  directive("variables_hash_max_size", 2048),
  directive("proxy_headers_hash_max_size", 512),
  directive("proxy_headers_hash_bucket_size", 64),
  directive("reset_timedout_connection", "on"),
  directive("tcp_nodelay", "on"),
  directive("proxy_http_version", "1.1"),
  directive("proxy_buffering", "off"),
  directive("proxy_buffer_size", "4k"),
  directive("proxy_buffers", 4, "4k"),
  directive("proxy_request_buffering", "on"),
  directive("proxy_connect_timeout", "5s"),
  directive("proxy_send_timeout", "60s"),
  directive("proxy_read_timeout", "60s"),
  directive("proxy_next_upstream", "error", "timeout"),
  directive("proxy_cookie_domain", "off"),
  directive("proxy_cookie_path", "off"),
  directive("proxy_redirect", "off"),
  directive("port_in_redirect", "off"),
  directive("ssl_protocols", "TLSv1.2", "TLSv1.3"),
  directive("ssl_session_tickets", "off"),
];

export interface SampleOptions {
  readonly runtimeDir: string;
  readonly ports: { readonly http: number; readonly https: number; readonly status: number; readonly defaultServer: number };
  readonly modules: readonly string[];
  readonly certificate: { readonly cert: string; readonly key: string };
}

/** Paths lie below runtimeDir; root runs the workers as root. */
export function sampleConfView(options: SampleOptions, over: Partial<ConfView> = {}): ConfView {
  const { runtimeDir, ports } = options;
  return {
    paths: {
      runtimeDir,
      luaDir: projectFiles.luaDir,
      modules: options.modules,
      socket: join(runtimeDir, "configuration.sock"),
      passthroughSocket: join(runtimeDir, "passthrough.sock"),
      pid: join(runtimeDir, "nginx.pid"),
      errorLog: join(runtimeDir, "error.log"),
      tempDir: join(runtimeDir, "temp"),
      defaultCertificate: options.certificate.cert,
      defaultKey: options.certificate.key,
    },
    user: process.getuid?.() === 0 ? "root" : undefined,
    workerProcesses: 1,
    errorLogLevel: "notice",
    features: { http2Directive: false, headersMore: options.modules.some((m) => m.includes("headers_more")), stream: false },
    listens: [
      { port: ports.http, addresses: [], ipv6: true, reuseport: true, proxyProtocol: false, ssl: false },
      { port: ports.https, addresses: [], ipv6: true, reuseport: true, proxyProtocol: false, ssl: true },
    ],
    http2: true,
    httpsPort: ports.https,
    statusPort: ports.status,
    defaultServerPort: ports.defaultServer,
    healthPath: "/healthz",
    dictionaries,
    configurationBodyLimit: dictionaries.configuration_data + dictionaries.certificate_data,
    main: [directive("daemon", "off"), directive("worker_shutdown_timeout", "10s")],
    events: [directive("worker_connections", 4096), directive("multi_accept", "on")],
    http: httpDefaults,
    server: [],
    maps: [],
    geo: [],
    accessLog: {
      target: join(runtimeDir, "access.log"),
      format:
        '$remote_addr "$request" $status $body_bytes_sent [$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr $req_id',
      escape: "default",
      params: [],
      skipUrls: [],
    },
    forwarded: {
      useForwardedHeaders: false,
      useProxyProtocol: false,
      enableRealIp: false,
      computeFullForwardedFor: false,
      forwardedForHeader: "X-Forwarded-For",
      forwardedHostHeader: "X-Forwarded-Host",
      trusted: ["0.0.0.0/0"],
      generateRequestId: true,
      addOriginalUri: false,
    },
    upstreams: { keepalive: 320, keepaliveRequests: 10000, keepaliveTimeout: "60s", keepaliveTime: "1h" },
    hsts: { maxAge: "31536000", includeSubdomains: true, preload: false },
    serverTokens: false,
    allowBackendServerHeader: false,
    requestHeaders: [],
    responseHeaders: [],
    profiles: [],
    internal: [],
    servers: [],
    snippets: { main: [], http: [], server: [], location: [], stream: [] },
    ...over,
  };
}
