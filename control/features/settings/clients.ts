/** ConfigMap keys: connections and requests of clients. */

import { bool, bufferSize, int, pattern, sift, size } from "../../catalog/kinds.ts";
import { setting } from "../../catalog/settings.ts";
import { address, onOff } from "../setting-kinds.ts";

export const clientsSettings = {
  "bind-address": setting({
    kind: sift(address),
    default: [] as readonly string[],
    applies: "reload",
    doc: "Addresses to listen on; split into v4 and v6; invalid dropped with a warning.",
  }),
  "bind-address-ipv4": setting({
    kind: sift(address),
    default: [] as readonly string[],
    applies: "reload",
    doc: "Internal field that is also decodable directly (undocumented).",
  }),
  "bind-address-ipv6": setting({
    kind: sift(address),
    default: [] as readonly string[],
    applies: "reload",
    doc: "As above, items written in brackets.",
  }),
  "client-body-buffer-size": setting({
    kind: bufferSize,
    default: "8k",
    directive: { context: "http", name: "client_body_buffer_size", args: (v) => [v] },
    doc: "Http-level default of the annotation.",
  }),
  "client-body-timeout": setting({
    kind: int(1),
    default: 60,
    directive: { context: "http", name: "client_body_timeout", args: (v) => [`${v}s`] },
    doc: "nginx client_body_timeout.",
  }),
  "client-header-buffer-size": setting({
    kind: bufferSize,
    default: "1k",
    directive: { context: "http", name: "client_header_buffer_size", args: (v) => [v] },
    doc: "nginx client_header_buffer_size.",
  }),
  "client-header-timeout": setting({
    kind: int(1),
    default: 60,
    directive: { context: "http", name: "client_header_timeout", args: (v) => [`${v}s`] },
    doc: "nginx client_header_timeout.",
  }),
  "disable-ipv6": setting({ kind: bool, default: false, applies: "reload", doc: "No [::] listeners." }),
  "disable-ipv6-dns": setting({
    kind: bool,
    default: undefined,
    applies: "reload",
    doc: "Leave v6 name servers out and ask for no v6 addresses; on by default where the machine has no IPv6.",
  }),
  "enable-multi-accept": setting({
    kind: bool,
    default: true,
    directive: { context: "events", name: "multi_accept", args: onOff },
    doc: "nginx multi_accept.",
  }),
  "enable-underscores-in-headers": setting({
    kind: bool,
    default: false,
    directive: { context: "http", name: "underscores_in_headers", args: onOff },
    doc: "nginx underscores_in_headers.",
  }),
  "http2-max-concurrent-streams": setting({
    kind: int(1),
    default: 128,
    directive: { context: "http", name: "http2_max_concurrent_streams", args: (v) => [String(v)] },
    doc: "nginx http2_max_concurrent_streams.",
  }),
  "http2-max-field-size": setting({
    kind: size,
    default: undefined,
    applies: "reload",
    support: "none",
    note: "nginx has no such limit since 1.19.7; use large-client-header-buffers.",
    doc: "Deprecated; written only when both size keys are set; obsolete in nginx.",
  }),
  "http2-max-header-size": setting({
    kind: size,
    default: undefined,
    applies: "reload",
    support: "none",
    note: "nginx has no such limit since 1.19.7; use large-client-header-buffers.",
    doc: "Deprecated, see above.",
  }),
  "http2-max-requests": setting({
    kind: int(),
    default: 0,
    applies: "reload",
    support: "none",
    note: "nginx has no such limit since 1.19.7; use keep-alive-requests.",
    doc: "Deprecated; written when > 0; obsolete in nginx (use keep-alive-requests).",
  }),
  "ignore-invalid-headers": setting({
    kind: bool,
    default: true,
    directive: { context: "http", name: "ignore_invalid_headers", args: onOff },
    doc: "nginx ignore_invalid_headers.",
  }),
  "keep-alive": setting({
    kind: int(0),
    default: 75,
    directive: { context: "http", name: "keepalive_timeout", args: (v) => [`${v}s`] },
    doc: "0 turns client keep-alive off.",
  }),
  "keep-alive-requests": setting({
    kind: int(1),
    default: 1000,
    directive: { context: "http", name: "keepalive_requests", args: (v) => [String(v)] },
    doc: "nginx keepalive_requests.",
  }),
  "large-client-header-buffers": setting({
    kind: pattern("number and size", /^\d{1,4} \d{1,6}[km]?$/i, "4 8k", "lots"),
    default: "4 8k",
    directive: { context: "http", name: "large_client_header_buffers", args: (v) => v.split(" ") },
    doc: "nginx large_client_header_buffers.",
  }),
  "limit-rate": setting({
    kind: int(0),
    default: 0,
    applies: "reload",
    doc: "Kilobytes per second of each answer, where the annotation does not say otherwise. 0 is no limit.",
  }),
  "limit-rate-after": setting({
    kind: int(0),
    default: 0,
    applies: "reload",
    doc: "Kilobytes of an answer that are sent before limit-rate holds.",
  }),
  "reuse-port": setting({ kind: bool, default: true, applies: "reload", doc: "reuseport on the default_server listeners." }),
  "use-http2": setting({
    kind: bool,
    default: true,
    applies: "reload",
    doc: "Written in every ordinary server (so also on port 80: prior-knowledge h2c); not in www-redirect servers. true disables auth-keepalive.",
  }),
  "use-http3": setting({
    kind: bool,
    default: false,
    applies: "reload",
    doc: "HTTP/3 on the UDP port of the same number as --https-port, announced by Alt-Svc. Where nginx has no HTTP/3, with use-proxy-protocol and with --enable-ssl-passthrough it is not served, and a finding says why. Sluice's own.",
  }),
} as const;
