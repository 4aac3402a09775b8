/** ConfigMap keys: TLS and the ways to it. */

import { bool, bufferSize, int, listOf, namedObject, pattern, size, text, time } from "../../catalog/kinds.ts";
import { setting } from "../../catalog/settings.ts";
import { cipherList, onOff, redirectCode, ticketKey, tlsProtocols } from "../setting-kinds.ts";

export const tlsSettings = {
  "enable-ocsp": setting({
    kind: bool,
    default: false,
    doc: "Staple OCSP answers. They are fetched beside the handshakes and renewed each hour; the issuer must be in the chain. Not for hosts with an RSA and an ECDSA certificate.",
  }),
  "force-ssl-redirect": setting({ kind: bool, default: false, doc: "Default of the annotation." }),
  hsts: setting({
    kind: bool,
    default: true,
    applies: "reload",
    doc: "Strict-Transport-Security on every https response of a location (scheme of the connection, not X-Forwarded-Proto).",
  }),
  "hsts-include-subdomains": setting({ kind: bool, default: true, applies: "reload", doc: "nginx Lua." }),
  "hsts-max-age": setting({ kind: int(0, 2 ** 40), default: 31536000, applies: "reload", doc: "nginx Lua." }),
  "hsts-preload": setting({ kind: bool, default: false, applies: "reload", doc: "nginx Lua." }),
  "http-redirect-code": setting({
    kind: redirectCode,
    default: 308,
    doc: "Code of ssl-redirect and www redirects; other values warn and keep the default.",
  }),
  "no-tls-redirect-locations": setting({
    kind: listOf(text),
    default: ["/.well-known/acme-challenge"] as readonly string[],
    doc: "Location paths starting with an item are never ssl-redirected (compared with the Ingress path, not the request URI).",
  }),
  "ssl-buffer-size": setting({
    kind: bufferSize,
    default: "4k",
    directive: { context: "http", name: "ssl_buffer_size", args: (v) => [v] },
    doc: "nginx ssl_buffer_size.",
  }),
  "ssl-ciphers": setting({
    kind: cipherList,
    default:
      "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES128-GCM-SHA256",
    directive: { context: "http", name: "ssl_ciphers", args: (v) => (v === "" ? undefined : [v]) },
    doc: "Non-empty also sets ssl_prefer_server_ciphers on.",
  }),
  "ssl-dh-param": setting({
    kind: namedObject,
    reads: "Secret",
    default: undefined,
    applies: "reload",
    doc: "Ignored with a warning when missing.",
  }),
  "ssl-early-data": setting({
    kind: bool,
    default: false,
    directive: { context: "http", name: "ssl_early_data", args: onOff },
    doc: "TLS 1.3 0-RTT (undocumented key).",
  }),
  "ssl-ecdh-curve": setting({
    kind: pattern("curve list", /^[A-Za-z0-9:_-]+$/, "auto", "a b"),
    default: "auto",
    directive: { context: "http", name: "ssl_ecdh_curve", args: (v) => [v] },
    doc: "nginx ssl_ecdh_curve.",
  }),
  "ssl-protocols": setting({
    kind: tlsProtocols,
    default: ["TLSv1.2", "TLSv1.3"] as readonly string[],
    directive: { context: "http", name: "ssl_protocols", args: (v) => v },
    doc: "nginx ssl_protocols.",
  }),
  "ssl-redirect": setting({ kind: bool, default: true, doc: "Default of the annotation." }),
  "ssl-reject-handshake": setting({
    kind: bool,
    default: false,
    doc: "Reject TLS for names without a server (catch-all server only).",
  }),
  "ssl-session-cache": setting({ kind: bool, default: true, applies: "reload", doc: "Shared cache SSL." }),
  "ssl-session-cache-size": setting({ kind: size, default: "10m", applies: "reload", doc: "nginx ssl_session_cache." }),
  "ssl-session-ticket-key": setting({
    kind: ticketKey,
    default: "",
    applies: "reload",
    doc: "Decoded to a key file; wrong length only warned about; undecodable ignored.",
  }),
  "ssl-session-tickets": setting({
    kind: bool,
    default: false,
    directive: { context: "http", name: "ssl_session_tickets", args: onOff },
    doc: "nginx ssl_session_tickets.",
  }),
  "ssl-session-timeout": setting({ kind: time, default: "10m", applies: "reload", doc: "Only written with the cache on." }),
} as const;
