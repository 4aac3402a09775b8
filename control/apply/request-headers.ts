/** What the upstream is told of the client: headers and the maps behind them, all computed by nginx itself. */
import type { ConfView, RequestHeader, VariableMap } from "../plan/conf-view.ts";

/** Variable of a request header: "X-Forwarded-For" → "$http_x_forwarded_for". */
function headerVariable(name: string): string {
  return `$http_${name.toLowerCase().replaceAll("-", "_")}`;
}

/** HTTP/3 has no Host header, and nginx makes none of its :authority as it does for HTTP/2. */
function givenHost(view: ConfView): string {
  return view.listens.some((listen) => listen.quic) ? "$sluice_given_host" : "$http_host";
}

/** Sent to every upstream, http and gRPC alike. An empty value removes the header. */
export function coreRequestHeaders(view: ConfView): RequestHeader[] {
  const { forwarded } = view;
  // $best_http_host and $pass_access_scheme would say the same; each map costs
  const direct = !forwarded.useForwardedHeaders;
  const host = direct ? givenHost(view) : "$best_http_host";
  const scheme = direct && !forwarded.useProxyProtocol ? "$scheme" : "$pass_access_scheme";
  return [
    { name: "Host", value: "$sluice_upstream_host" },
    { name: "Upgrade", value: "$http_upgrade" },
    { name: "Connection", value: "$connection_upgrade" },
    { name: "X-Request-ID", value: "$req_id" },
    { name: "X-Real-IP", value: "$remote_addr" },
    { name: "X-Forwarded-For", value: forwardedFor(view) },
    { name: "X-Forwarded-Host", value: host },
    { name: "X-Forwarded-Port", value: "$pass_port" },
    { name: "X-Forwarded-Proto", value: scheme },
    { name: "X-Forwarded-Scheme", value: scheme },
    { name: "X-Scheme", value: scheme },
    ...(forwarded.addOriginalUri ? [{ name: "X-Original-URI", value: "$request_uri" }] : []),
    { name: "X-Original-Forwarded-For", value: headerVariable(forwarded.forwardedForHeader) },
    { name: "X-Original-Forwarded-Host", value: headerVariable(forwarded.forwardedHostHeader) },
    ...(forwarded.chain === undefined
      ? []
      : [
          ...(forwarded.chain.upstreamHeader === undefined ? [] : [{ name: forwarded.chain.upstreamHeader, value: "$sluice_proxy_chain" }]),
          { name: forwarded.chain.secretHeader, value: "" },
        ]),
    { name: "Proxy", value: "" },
    // a client must not be able to claim a verified certificate
    { name: "ssl-client-verify", value: "$sluice_client_verify" },
    { name: "ssl-client-subject-dn", value: "$sluice_client_subject" },
    { name: "ssl-client-issuer-dn", value: "$sluice_client_issuer" },
    { name: "ssl-client-cert", value: "$sluice_client_cert" },
  ];
}

/** The second list wins over the first where names are equal but for case. */
export function mergeHeaders(base: readonly RequestHeader[], over: readonly RequestHeader[]): RequestHeader[] {
  const names = new Set(over.map((header) => header.name.toLowerCase()));
  return [...base.filter((header) => !names.has(header.name.toLowerCase())), ...over];
}

function forwardedFor(view: ConfView): string {
  return view.forwarded.useForwardedHeaders && view.forwarded.computeFullForwardedFor ? "$full_x_forwarded_for" : "$remote_addr";
}

function map(source: string, target: string, byDefault: string, ...entries: (readonly [string, string])[]): VariableMap {
  return { source, target, entries: [{ key: "default", value: byDefault }, ...entries.map(([key, value]) => ({ key, value }))] };
}

function tlsPorts(view: ConfView): number[] {
  const inner = view.stream?.passthrough?.proxyPort;
  return inner === undefined || inner === view.httpsPort ? [view.httpsPort] : [view.httpsPort, inner];
}

/** The http port has no PROXY line where only --enable-ssl-passthrough makes them. */
function chainMaps(header: string): VariableMap[] {
  return [
    map("$proxy_protocol_addr", "sluice_peer", "$proxy_protocol_addr", ["", "$realip_remote_addr"]),
    map(header, "sluice_header_chain", header, ["", "$sluice_peer"]),
    map("$sluice_proxy_trusted", "sluice_proxy_chain", "$sluice_peer", ["1", "$sluice_header_chain"]),
  ];
}

/** Maps that the headers above, the redirects in Lua and the access log read. */
export function forwardedMaps(view: ConfView): VariableMap[] {
  const { forwarded } = view;
  const trust = forwarded.useForwardedHeaders;
  const chained = forwarded.chain !== undefined;
  const peer = forwarded.useProxyProtocol ? "$proxy_protocol_addr" : chained ? "$sluice_peer" : "$realip_remote_addr";
  const scheme = forwarded.useProxyProtocol ? "$sluice_proxy_scheme" : "$scheme";
  const port = forwarded.useProxyProtocol ? "$proxy_protocol_server_port" : "$server_port";
  const skip = view.accessLog.skipUrls;
  const hsts = view.hsts;
  const host = givenHost(view);
  return [
    ...(host === "$http_host" ? [] : [map("$http_host", "sluice_given_host", "$http_host", ["", "$host"])]),
    map("$http_x_request_id", "req_id", "$http_x_request_id", ["", forwarded.generateRequestId ? "$request_id" : ""]),
    map("$http_upgrade", "connection_upgrade", "upgrade", ["", view.upstreams.keepalive > 0 ? "" : "close"]),
    ...(trust
      ? [map("$http_x_forwarded_host", "best_http_host", host, ["~^\\s*(?<sluice_first_host>[^,\\s]+)", "$sluice_first_host"])]
      : [map("$sluice_nothing", "best_http_host", host)]),
    map("$upstream_vhost", "sluice_upstream_host", "$upstream_vhost", ["", trust ? "$best_http_host" : host]),
    ...(forwarded.useProxyProtocol ? [map("$proxy_protocol_server_port", "sluice_proxy_scheme", "$scheme", ["443", "https"])] : []),
    ...(chained ? chainMaps(headerVariable(forwarded.forwardedForHeader)) : []),
    // port 443 in the PROXY line beats X-Forwarded-Proto
    ...(trust && forwarded.useProxyProtocol
      ? [
          map("$http_x_forwarded_proto", "sluice_header_scheme", "$http_x_forwarded_proto", ["", "$scheme"]),
          map("$proxy_protocol_server_port", "pass_access_scheme", "$sluice_header_scheme", ["443", "https"]),
        ]
      : [
          trust
            ? map("$http_x_forwarded_proto", "pass_access_scheme", "$http_x_forwarded_proto", ["", scheme])
            : map("$sluice_nothing", "pass_access_scheme", scheme),
        ]),
    trust
      ? map("$http_x_forwarded_port", "pass_server_port", "$http_x_forwarded_port", ["", port])
      : map("$sluice_nothing", "pass_server_port", port),
    map("$pass_server_port", "pass_port", "$pass_server_port", ...tlsPorts(view).map((port): [string, string] => [String(port), "443"])),
    ...(trust && forwarded.computeFullForwardedFor
      ? [
          map(
            headerVariable(forwarded.forwardedForHeader),
            "full_x_forwarded_for",
            `${headerVariable(forwarded.forwardedForHeader)}, ${peer}`,
            ["", peer],
          ),
        ]
      : []),
    ...(skip.length > 0
      ? [
          {
            source: "$request_uri",
            target: "sluice_log_url",
            entries: [{ key: "default", value: 1 }, ...skip.map((key) => ({ key, value: 0 }))],
          },
        ]
      : []),
    map("$sluice_nolog", "loggable", "0", ["", skip.length > 0 ? "$sluice_log_url" : "1"]),
    ...(hsts === undefined ? [] : [map("$scheme", "sluice_hsts", "$upstream_http_strict_transport_security", ["https", hstsValue(hsts)])]),
  ];
}

function hstsValue(hsts: NonNullable<ConfView["hsts"]>): string {
  return [`max-age=${hsts.maxAge}`, ...(hsts.includeSubdomains ? ["includeSubDomains"] : []), ...(hsts.preload ? ["preload"] : [])].join(
    "; ",
  );
}
