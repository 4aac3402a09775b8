/** ConfigMap keys: logs. */

import { bool, cidr, int, line, listOf, oneOf, sift, text } from "../../catalog/kinds.ts";
import { setting } from "../../catalog/settings.ts";
import { filePath, syslogHost } from "../setting-kinds.ts";

/** The fields that users' log pipelines parse. */
const upstreamFormat =
  '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr $upstream_response_length $upstream_response_time $upstream_status $req_id';

export const logsSettings = {
  "access-log-params": setting({ kind: line, default: "", applies: "reload", doc: "Extra parameters on access_log (e.g. buffer=16k)." }),
  "access-log-path": setting({
    kind: filePath,
    default: "/var/log/nginx/access.log",
    applies: "reload",
    doc: "Access log file for http and stream. In the chroot image this default is replaced by syslog to --internal-logger-address.",
  }),
  "debug-connections": setting({
    kind: sift(cidr),
    default: [] as readonly string[],
    applies: "reload",
    doc: "Invalid items dropped with a warning.",
  }),
  "disable-access-log": setting({ kind: bool, default: false, applies: "reload", doc: "Access log off for http and stream." }),
  "disable-http-access-log": setting({ kind: bool, default: false, applies: "reload", doc: "Http only (key absent from docs)." }),
  "disable-stream-access-log": setting({
    kind: bool,
    default: false,
    applies: "reload",
    doc: "Stream only (key absent from docs).",
  }),
  "enable-access-log-for-default-backend": setting({
    kind: bool,
    default: false,
    doc: "Access log for location / of the catch-all server while no Ingress claims it.",
  }),
  "enable-auth-access-log": setting({
    kind: bool,
    default: false,
    support: "none",
    note: "The auth request is no nginx subrequest and leaves no line of its own; a service that fails is in the error log.",
    doc: "Log external-auth subrequests (key absent from docs).",
  }),
  "enable-syslog": setting({
    kind: bool,
    default: false,
    applies: "reload",
    doc: "Send http access and error logs to syslog-host:syslog-port (UDP); the stream block keeps its files.",
  }),
  "error-log-level": setting({
    kind: oneOf(["debug", "info", "notice", "warn", "error", "crit", "alert", "emerg"]),
    default: "notice",
    applies: "reload",
    doc: "Error log level.",
  }),
  "error-log-path": setting({
    kind: filePath,
    default: "/var/log/nginx/error.log",
    applies: "reload",
    doc: "Error log file (http and stream); chroot image: syslog as above.",
  }),
  "http-access-log-path": setting({ kind: filePath, default: undefined, applies: "reload", doc: "Http-only override." }),
  "log-format-escape-json": setting({ kind: bool, default: false, applies: "reload", doc: "escape=json." }),
  "log-format-escape-none": setting({ kind: bool, default: false, applies: "reload", doc: "escape=none (wins over json)." }),
  "log-format-stream": setting({
    kind: text,
    default: "[$remote_addr] [$time_local] $protocol $status $bytes_sent $bytes_received $session_time",
    applies: "reload",
    doc: "Text of log_format log_stream.",
  }),
  "log-format-upstream": setting({
    kind: text,
    default: upstreamFormat,
    applies: "reload",
    doc: "Text of log_format upstreaminfo (single-quoted). Extra variables: $namespace $ingress_name $service_name $service_port $location_path.",
  }),
  "skip-access-log-urls": setting({
    kind: listOf(line),
    default: [] as readonly string[],
    applies: "reload",
    doc: "Request URIs (map keys over $request_uri, so with query; ~regex possible) not logged.",
  }),
  "stream-access-log-path": setting({
    kind: filePath,
    default: undefined,
    applies: "reload",
    doc: "Stream-only override.",
  }),
  "syslog-host": setting({ kind: syslogHost, default: "", applies: "reload", doc: "Syslog host." }),
  "syslog-port": setting({
    kind: int(1, 65535),
    default: 514,
    applies: "reload",
    doc: "Syslog port.",
  }),
} as const;
