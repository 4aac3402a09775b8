/** ConfigMap keys: what answers look like. */

import { absolutePath, bool, int, line, ref } from "../../catalog/kinds.ts";
import { setting } from "../../catalog/settings.ts";
import { errorCodes, goodHeaderNames, mimeType, onOff } from "../setting-kinds.ts";

const gzipTypes =
  "application/atom+xml application/javascript application/x-javascript application/json application/rss+xml application/vnd.ms-fontobject application/x-font-ttf application/x-web-app-manifest+json application/xhtml+xml application/xml font/opentype image/svg+xml image/x-icon text/css text/javascript text/plain text/x-component";

export const answersSettings = {
  "add-headers": setting({
    kind: ref,
    default: undefined,
    applies: "reload",
    doc: "Names a ConfigMap (namespace/name): each entry is a header on every answer, in place of the backend's; nginx variables are filled in.",
  }),
  "allow-backend-server-header": setting({ kind: bool, default: false, applies: "reload", doc: "Pass the upstream Server header." }),
  "app-root": setting({
    kind: absolutePath,
    default: undefined,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "Decoded but nothing reads it.",
  }),
  "brotli-level": setting({
    kind: int(0, 11),
    default: 4,
    applies: "reload",
    doc: "nginx brotli_comp_level.",
  }),
  "brotli-min-length": setting({
    kind: int(0),
    default: 20,
    applies: "reload",
    doc: "nginx brotli_min_length.",
  }),
  "brotli-types": setting({
    kind: line,
    default: `application/xml+rss ${gzipTypes}`,
    applies: "reload",
    doc: "nginx brotli_types.",
  }),
  "custom-http-errors": setting({
    kind: errorCodes,
    default: [] as readonly number[],
    applies: "reload",
    doc: "Codes 300..599 kept, others warned about. Http-level error_page to the default backend and proxy_intercept_errors on. Replaced by the annotation per location.",
  }),
  "default-type": setting({
    kind: mimeType,
    default: "text/html",
    directive: { context: "http", name: "default_type", args: (v) => [v] },
    doc: "nginx default_type.",
  }),
  "disable-proxy-intercept-errors": setting({
    kind: bool,
    default: false,
    applies: "reload",
    doc: "Http level: do not intercept upstream errors even with custom-http-errors. Not a default for the annotation (undocumented key).",
  }),
  "enable-brotli": setting({
    kind: bool,
    default: false,
    applies: "reload",
    doc: "Loads filter and static modules.",
  }),
  "generate-request-id": setting({
    kind: bool,
    default: true,
    applies: "reload",
    doc: "When the client sends no X-Request-ID, use nginx $request_id; false leaves it empty.",
  }),
  "global-allowed-response-headers": setting({
    kind: goodHeaderNames,
    default: [] as readonly string[],
    doc: "Names (case-sensitive) that annotation custom-headers may set. Invalid names dropped with a warning.",
  }),
  "gzip-disable": setting({ kind: line, default: "", applies: "reload", doc: "nginx gzip_disable." }),
  "gzip-level": setting({ kind: int(1, 9), default: 1, applies: "reload", doc: "nginx gzip_comp_level." }),
  "gzip-min-length": setting({ kind: int(0), default: 256, applies: "reload", doc: "nginx gzip_min_length." }),
  "gzip-types": setting({ kind: line, default: gzipTypes, applies: "reload", doc: "nginx gzip_types." }),
  "hide-headers": setting({
    kind: goodHeaderNames,
    default: [] as readonly string[],
    applies: "reload",
    doc: "Upstream response headers not passed to the client.",
  }),
  "preserve-trailing-slash": setting({ kind: bool, default: false, doc: "Default of the annotation (undocumented key)." }),
  "relative-redirects": setting({
    kind: bool,
    default: false,
    directive: { context: "http", name: "absolute_redirect", args: (v) => [v ? "off" : "on"] },
    doc: "absolute_redirect off at http level. Not a default for the annotation.",
  }),
  "server-tokens": setting({
    kind: bool,
    default: false,
    directive: { context: "http", name: "server_tokens", args: onOff },
    doc: "false also clears the Server response header entirely (more_clear_headers Server); true sends nginx version.",
  }),
  "use-gzip": setting({
    kind: bool,
    default: false,
    applies: "reload",
    doc: "Adds gzip_http_version 1.1, gzip_proxied any, gzip_vary on.",
  }),
  "use-port-in-redirects": setting({
    kind: bool,
    default: false,
    doc: "Default of the annotation (undocumented key).",
  }),
} as const;
