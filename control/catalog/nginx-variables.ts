/** Which variables a text names, and whether nginx knows them: one that it does not know makes it refuse the whole file. */

import { allStatements, statementsOf } from "./nginx-text.ts";

const builtIn = new Set(
  (
    "args binary_remote_addr body_bytes_sent bytes_sent connection connection_requests connection_time content_length content_type " +
    "document_root document_uri host hostname http2 https is_args limit_rate msec nginx_version pid pipe " +
    "proxy_add_x_forwarded_for proxy_host proxy_port proxy_protocol_addr proxy_protocol_port proxy_protocol_server_addr " +
    "proxy_protocol_server_port query_string realip_remote_addr realip_remote_port remote_addr remote_port remote_user request " +
    "request_body request_completion request_filename request_id request_length request_method request_time request_uri scheme " +
    "server_addr server_name server_port server_protocol ssl_alpn_protocol ssl_cipher ssl_ciphers ssl_client_cert " +
    "ssl_client_escaped_cert ssl_client_fingerprint ssl_client_i_dn ssl_client_raw_cert ssl_client_s_dn ssl_client_serial " +
    "ssl_client_v_end ssl_client_v_remain ssl_client_v_start ssl_client_verify ssl_curve ssl_curves ssl_early_data ssl_protocol " +
    "ssl_server_name ssl_session_id ssl_session_reused status time_iso8601 time_local upstream_addr upstream_bytes_received " +
    "upstream_bytes_sent upstream_cache_status upstream_connect_time upstream_header_time upstream_response_length " +
    "upstream_response_time upstream_status uri tcpinfo_rtt tcpinfo_rttvar tcpinfo_snd_cwnd tcpinfo_rcv_space " +
    // ours, from nginx/partials/server.mustache and apply/request-headers.ts
    "namespace ingress_name service_name service_port location_path proxy_upstream_name proxy_alternative_upstream_name req_id subdomain " +
    "opentelemetry_trace_id opentelemetry_span_id opentelemetry_context_traceparent " +
    "best_http_host pass_access_scheme pass_server_port pass_port"
  ).split(" "),
);

const families = /^(arg|http|cookie|sent_http|sent_trailer|upstream_http|upstream_cookie|upstream_trailer)_[a-z0-9_]+$/;

/** Variables that Lua fills from the route, and only where somebody asked for them. */
export const routeVariables = ["namespace", "ingress_name", "service_name", "service_port", "location_path", "subdomain"];

/** Place of the variable among the words of a directive that makes one; -1: the last. */
const makers: Readonly<Record<string, number>> = {
  auth_request_set: 1,
  geo: -1,
  js_set: 1,
  js_var: 1,
  map: -1,
  perl_set: 1,
  set: 1,
  set_by_lua: 1,
  set_by_lua_block: 1,
  set_by_lua_file: 1,
  split_clients: -1,
};

/** Names, in lower case and without "$", of the variables that an administrator's text makes. */
export function variablesMadeBy(text: string): string[] {
  return allStatements(statementsOf(text)).flatMap(({ words }) => {
    // in a block of geoip2: "$name path …;"
    const made = words[0]?.startsWith("$") === true ? words[0] : words.at(makers[words[0] ?? ""] ?? words.length);
    return made?.startsWith("$") === true ? [made.slice(1).toLowerCase()] : [];
  });
}

/** Why nginx would refuse the text as a value with variables; undefined when it would not. `more`: variables besides nginx's and ours. */
export function variableProblem(text: string, more?: ReadonlySet<string>): string | undefined {
  for (const match of text.matchAll(/\$(?:\{([^}]*)(\}?)|([A-Za-z0-9_]*))/g)) {
    const name = (match[1] ?? match[3] ?? "").toLowerCase();
    if (name === "" || (match[1] !== undefined && match[2] === "")) return "it holds a dollar sign that begins no variable";
    if (!builtIn.has(name) && !families.test(name) && more?.has(name) !== true) return `nginx has no variable $${name}`;
  }
  return undefined;
}

export function namesVariable(text: string, name: string): boolean {
  return new RegExp(`\\$(\\{${name}\\}|${name}(?![A-Za-z0-9_]))`).test(text);
}
