/** Settings → directives of the http block that are not one key each. */

import type { Settings } from "../catalog/settings.ts";
import { pairArgs, redirectPair } from "../features/replacement.ts";
import { nextUpstreamDirective } from "../features/retries.ts";
import type { ConfSurroundings } from "./conf.ts";
import { can } from "./conf-modules.ts";
import type { Directive } from "./conf-view.ts";

/** Defaults of the retired controller that differ from nginx's own, and keys that make several directives. */
export function httpDirectives(settings: Settings, around: ConfSurroundings): Directive[] {
  const nextUpstream = (family: "proxy" | "grpc" | "fastcgi") =>
    nextUpstreamDirective(family, settings["proxy-next-upstream"], settings["retry-non-idempotent"]);
  const out: Directive[] = [
    { name: "proxy_buffers", args: [Math.max(2, settings["proxy-buffers-number"]), settings["proxy-buffer-size"]] },
    nextUpstream("proxy"),
    nextUpstream("grpc"),
    nextUpstream("fastcgi"),
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
  if (can("enable-brotli", settings, around)) out.push(...brotli(settings));
  for (const family of ["proxy", "grpc", "fastcgi"]) {
    for (const header of settings["hide-headers"]) out.push({ name: `${family}_hide_header`, args: [header] });
  }
  for (const kind of ["connect", "send", "read"] as const) {
    for (const family of ["proxy", "grpc", "fastcgi"]) {
      out.push({ name: `${family}_${kind}_timeout`, args: [`${settings[`proxy-${kind}-timeout`]}s`] });
    }
  }
  out.push(...resolver(settings, around));
  return out;
}

function resolver(settings: Settings, around: ConfSurroundings): Directive[] {
  const noIpv6 = settings["disable-ipv6-dns"] ?? !around.ipv6;
  const servers = around.resolvers.filter((server) => !(noIpv6 && server.startsWith("[")));
  return servers.length === 0 ? [] : [{ name: "resolver", args: [...servers, "valid=30s", ...(noIpv6 ? ["ipv6=off"] : [])] }];
}

function brotli(settings: Settings): Directive[] {
  return [
    { name: "brotli", args: ["on"] },
    { name: "brotli_comp_level", args: [settings["brotli-level"]] },
    { name: "brotli_min_length", args: [settings["brotli-min-length"]] },
    { name: "brotli_types", args: mediaTypes(settings["brotli-types"]) },
  ];
}

/** text/html is always meant; naming it is a warning. */
function mediaTypes(text: string): string[] {
  return [...new Set(text.split(/\s+/))].filter((t) => t !== "" && t !== "text/html");
}

function gzip(settings: Settings): Directive[] {
  const out: Directive[] = [
    { name: "gzip", args: ["on"] },
    { name: "gzip_comp_level", args: [settings["gzip-level"]] },
    { name: "gzip_http_version", args: ["1.1"] },
    { name: "gzip_min_length", args: [settings["gzip-min-length"]] },
    { name: "gzip_types", args: mediaTypes(settings["gzip-types"]) },
    { name: "gzip_proxied", args: ["any"] },
    { name: "gzip_vary", args: ["on"] },
  ];
  if (settings["gzip-disable"] !== "") out.push({ name: "gzip_disable", args: [{ literal: settings["gzip-disable"] }] });
  return out;
}
