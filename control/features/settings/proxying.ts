/** ConfigMap keys: towards backends. */

import { bool, bufferSize, fileSize, int, oneOf, ref, size, text, time } from "../../catalog/kinds.ts";
import { setting } from "../../catalog/settings.ts";
import { pairArgs, type Replacement, settingPair, settingWord } from "../replacement.ts";
import { nextUpstream } from "../setting-kinds.ts";

export const proxyingSettings = {
  "grpc-buffer-size-kb": setting({
    kind: int(),
    default: 0,
    directive: { context: "http", name: "grpc_buffer_size", args: (v) => (v > 0 ? [`${v}k`] : undefined) },
    doc: "nginx grpc_buffer_size.",
  }),
  "load-balance": setting({
    kind: oneOf(["round_robin", "ewma", "least_conn", "p2c", "chash", "chashsubset", "sticky_balanced", "sticky_persistent", ""]),
    default: "",
    doc: "Default of the annotation; empty is round_robin.",
  }),
  "proxy-add-original-uri-header": setting({
    kind: bool,
    default: false,
    applies: "reload",
    doc: "Adds X-Original-URI (request URI) upstream.",
  }),
  "proxy-body-size": setting({
    kind: size,
    default: "1m",
    directive: { context: "http", name: "client_max_body_size", args: (v) => [v] },
    doc: "Default of the annotation; 0 = unlimited.",
  }),
  "proxy-buffer-size": setting({
    kind: bufferSize,
    default: "4k",
    directive: { context: "http", name: "proxy_buffer_size", args: (v) => [v] },
    doc: "nginx proxy_buffer_size.",
  }),
  "proxy-buffering": setting({
    kind: oneOf(["on", "off"]),
    default: "off",
    directive: { context: "http", name: "proxy_buffering", args: (v) => [v] },
    doc: "nginx proxy_buffering.",
  }),
  "proxy-buffers-number": setting({ kind: int(1), default: 4, applies: "reload", doc: "nginx proxy_buffers." }),
  "proxy-busy-buffers-size": setting({
    kind: bufferSize,
    default: undefined,
    directive: { context: "http", name: "proxy_busy_buffers_size", args: (v) => (v === undefined ? undefined : [v]) },
    doc: "nginx proxy_busy_buffers_size.",
  }),
  "proxy-connect-timeout": setting({
    kind: int(1),
    default: 5,
    applies: "reload",
    doc: "nginx proxy_connect_timeout, and that of gRPC and FastCGI.",
  }),
  "proxy-cookie-domain": setting({
    kind: settingPair,
    default: { kind: "off" } as Replacement,
    directive: { context: "http", name: "proxy_cookie_domain", args: pairArgs },
    doc: "off, or the domain in cookies of backends and what replaces it, as nginx proxy_cookie_domain.",
  }),
  "proxy-cookie-path": setting({
    kind: settingPair,
    default: { kind: "off" } as Replacement,
    directive: { context: "http", name: "proxy_cookie_path", args: pairArgs },
    doc: "off, or the beginning of the path in cookies of backends and what replaces it, as nginx proxy_cookie_path.",
  }),
  "proxy-headers-hash-bucket-size": setting({
    kind: int(32),
    default: 64,
    directive: { context: "http", name: "proxy_headers_hash_bucket_size", args: (v) => [String(v)] },
    doc: "nginx proxy_headers_hash_bucket_size.",
  }),
  "proxy-headers-hash-max-size": setting({
    kind: int(64),
    default: 512,
    directive: { context: "http", name: "proxy_headers_hash_max_size", args: (v) => [String(v)] },
    doc: "nginx proxy_headers_hash_max_size.",
  }),
  "proxy-http-version": setting({
    kind: oneOf(["1.0", "1.1"]),
    default: "1.1",
    directive: { context: "http", name: "proxy_http_version", args: (v) => [v] },
    doc: "Undocumented as a ConfigMap key.",
  }),
  "proxy-max-temp-file-size": setting({
    kind: fileSize,
    default: "1024m",
    directive: { context: "http", name: "proxy_max_temp_file_size", args: (v) => [v] },
    doc: "Undocumented as a ConfigMap key.",
  }),
  "proxy-next-upstream": setting({ kind: nextUpstream, default: "error timeout", applies: "reload", doc: "nginx proxy_next_upstream." }),
  "proxy-next-upstream-timeout": setting({
    kind: int(0),
    default: 0,
    directive: { context: "http", name: "proxy_next_upstream_timeout", args: (v) => [`${v}s`] },
    doc: "nginx proxy_next_upstream_timeout.",
  }),
  "proxy-next-upstream-tries": setting({ kind: int(0), default: 3, doc: "nginx proxy_next_upstream_tries." }),
  "proxy-read-timeout": setting({
    kind: int(1),
    default: 60,
    applies: "reload",
    doc: "nginx proxy_read_timeout, and that of gRPC and FastCGI.",
  }),
  "proxy-redirect-from": setting({
    kind: settingWord,
    default: "off",
    applies: "reload",
    doc: "Default of the annotation; off, default, or what nginx proxy_redirect looks for.",
  }),
  "proxy-redirect-to": setting({
    kind: settingWord,
    default: "off",
    applies: "reload",
    doc: "Default of the annotation; off, or what nginx proxy_redirect puts in place.",
  }),
  "proxy-request-buffering": setting({
    kind: oneOf(["on", "off"]),
    default: "on",
    directive: { context: "http", name: "proxy_request_buffering", args: (v) => [v] },
    doc: "nginx proxy_request_buffering.",
  }),
  "proxy-send-timeout": setting({
    kind: int(1),
    default: 60,
    applies: "reload",
    doc: "nginx proxy_send_timeout, and that of gRPC and FastCGI.",
  }),
  "proxy-set-headers": setting({
    kind: ref,
    default: undefined,
    applies: "reload",
    doc: "Names a ConfigMap (namespace/name): each entry is a header towards all upstreams, in place of a built-in one of that name; nginx variables are filled in.",
  }),
  "proxy-ssl-location-only": setting({
    kind: bool,
    default: false,
    doc: "proxy-ssl-* only in the locations of their own Ingress, not in those of the whole host.",
  }),
  "proxy-stream-next-upstream": setting({
    kind: bool,
    default: true,
    applies: "reload",
    doc: "nginx proxy_next_upstream.",
  }),
  "proxy-stream-next-upstream-timeout": setting({
    kind: time,
    default: "600s",
    applies: "reload",
    doc: "nginx proxy_next_upstream_timeout.",
  }),
  "proxy-stream-next-upstream-tries": setting({
    kind: int(0),
    default: 3,
    applies: "reload",
    doc: "nginx proxy_next_upstream_tries.",
  }),
  "proxy-stream-responses": setting({
    kind: int(0),
    default: 1,
    applies: "reload",
    doc: "UDP only.",
  }),
  "proxy-stream-timeout": setting({
    kind: time,
    default: "600s",
    applies: "reload",
    doc: "nginx proxy_timeout.",
  }),
  "retry-non-idempotent": setting({ kind: bool, default: false, doc: "Appends non_idempotent to proxy-next-upstream everywhere." }),
  "service-upstream": setting({ kind: bool, default: false, doc: "Default of the annotation." }),
  "upstream-hash-by": setting({
    kind: text,
    default: undefined,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "Decoded but nothing reads it.",
  }),
  "upstream-hash-by-subset": setting({
    kind: bool,
    default: false,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "Decoded but nothing reads it.",
  }),
  "upstream-hash-by-subset-size": setting({
    kind: int(),
    default: 0,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "Decoded but nothing reads it.",
  }),
  "upstream-keepalive-connections": setting({
    kind: int(0),
    default: 320,
    applies: "reload",
    doc: "0 turns upstream keep-alive off (and Connection: close is sent).",
  }),
  "upstream-keepalive-requests": setting({ kind: int(1), default: 10000, applies: "reload", doc: "nginx keepalive_requests (upstream)." }),
  "upstream-keepalive-time": setting({ kind: time, default: "1h", applies: "reload", doc: "nginx keepalive_time." }),
  "upstream-keepalive-timeout": setting({ kind: int(1), default: 60, applies: "reload", doc: "nginx keepalive_timeout (upstream)." }),
} as const;
