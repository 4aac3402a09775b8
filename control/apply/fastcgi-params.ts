/** The CGI parameters of a FastCGI location. */

import type { Argument, RequestHeader } from "../plan/conf-view.ts";

const usual: readonly (readonly [string, string])[] = [
  ["QUERY_STRING", "$query_string"],
  ["REQUEST_METHOD", "$request_method"],
  ["CONTENT_TYPE", "$content_type"],
  ["CONTENT_LENGTH", "$content_length"],
  ["SCRIPT_NAME", "$fastcgi_script_name"],
  ["REQUEST_URI", "$request_uri"],
  ["DOCUMENT_URI", "$document_uri"],
  ["DOCUMENT_ROOT", "$document_root"],
  ["SERVER_PROTOCOL", "$server_protocol"],
  ["REQUEST_SCHEME", "$scheme"],
  ["GATEWAY_INTERFACE", "CGI/1.1"],
  ["SERVER_SOFTWARE", "nginx/$nginx_version"],
  ["REMOTE_ADDR", "$remote_addr"],
  ["REMOTE_PORT", "$remote_port"],
  ["SERVER_ADDR", "$server_addr"],
  ["SERVER_PORT", "$server_port"],
  ["SERVER_NAME", "$host"],
  // php-fpm refuses to answer without it
  ["REDIRECT_STATUS", "200"],
];

/** Of one connection, not of the request. */
const hopByHop = new Set(["upgrade", "connection"]);

/**
 * Arguments of fastcgi_param. Headers towards the upstream become HTTP_ parameters; naming one, even with an empty value,
 * keeps the client's own header of that name out. `own` replaces what has the same name.
 */
export function fastcgiParams(headers: readonly RequestHeader[], own: readonly RequestHeader[]): Argument[][] {
  const out = new Map<string, Argument[]>(usual.map(([name, value]) => [name, [name, value]]));
  out.set("HTTPS", ["HTTPS", "$https", "if_not_empty"]);
  for (const { name, value } of headers) {
    if (hopByHop.has(name.toLowerCase())) continue;
    const param = `HTTP_${name.toUpperCase().replaceAll("-", "_")}`;
    out.set(param, [param, value, "if_not_empty"]);
  }
  for (const { name, value } of own) out.set(name, [name, value]);
  return [...out.values()];
}
