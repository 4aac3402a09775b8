/** ConfigMap keys: how the client and its request are known behind other proxies. */

import { bool, cidr, headerName, sift, time } from "../../catalog/kinds.ts";
import { setting } from "../../catalog/settings.ts";

export const forwardedSettings = {
  "compute-full-forwarded-for": setting({
    kind: bool,
    default: false,
    applies: "reload",
    doc: 'With use-forwarded-headers: X-Forwarded-For upstream = incoming value + ", " + peer address (peer = PROXY address with use-proxy-protocol).',
  }),
  "enable-real-ip": setting({
    kind: bool,
    default: false,
    applies: "reload",
    doc: "Enable real_ip (from forwarded-for-header) without trusting the other forwarded headers; also set_real_ip_from in stream.",
  }),
  "forwarded-for-header": setting({
    kind: headerName,
    default: "X-Forwarded-For",
    applies: "reload",
    doc: "Header used for real client IP and for X-Original-Forwarded-For.",
  }),
  "forwarded-for-proxy-protocol-header": setting({
    kind: headerName,
    default: "X-Forwarded-For-Proxy-Protocol",
    applies: "reload",
    doc: "Name of the internal header used when both PROXY protocol and forwarded headers are on.",
  }),
  "forwarded-host-header": setting({
    kind: headerName,
    default: "X-Forwarded-Host",
    applies: "reload",
    doc: "Only the source of X-Original-Forwarded-Host; Lua always reads X-Forwarded-Host (undocumented key).",
  }),
  "proxy-protocol-header-timeout": setting({
    kind: time,
    default: "5s",
    applies: "reload",
    doc: "How long the PROXY line of a client may take with --enable-ssl-passthrough.",
  }),
  "proxy-real-ip-cidr": setting({
    kind: sift(cidr),
    default: ["0.0.0.0/0"] as readonly string[],
    applies: "reload",
    doc: "Trusted proxies for real_ip; real_ip_recursive on. Default does not include IPv6.",
  }),
  "use-forwarded-headers": setting({
    kind: bool,
    default: false,
    applies: "reload",
    doc: "Trust X-Forwarded-Proto/Port/Host from any client in Lua and enable real_ip from forwarded-for-header. See routing.md.",
  }),
  "use-proxy-protocol": setting({
    kind: bool,
    default: false,
    applies: "reload",
    doc: "PROXY protocol on the http and https listeners; scheme forced to https when the PROXY server port is 443.",
  }),
} as const;
