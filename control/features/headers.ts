/** Annotations: headers. */

import { feature, row } from "../catalog/feature.ts";
import { hostText, oneOf, ref, text, url } from "../catalog/kinds.ts";
import type { Directive } from "../model/model.ts";

export const headers = feature({
  name: "headers",
  rows: {
    "connection-proxy-header": row({
      kind: oneOf(["close", "keep-alive"], true),
      default: undefined,
      risk: "low",
      onInvalid: "reject",
      doc: "Fixed Connection header towards the upstream (replaces the websocket-aware default).",
    }),
    "custom-headers": row({
      kind: ref,
      default: undefined,
      risk: "medium",
      onInvalid: "default",
      support: "none",
      note: "Not built yet.",
      doc: "Response headers set (replacing) from ConfigMap data.",
    }),
    "upstream-vhost": row({
      kind: hostText,
      default: undefined,
      risk: "low",
      onInvalid: "reject",
      doc: "Host header sent upstream (quoted, variables expanded).",
    }),
    "proxy-cookie-domain": row({
      kind: text,
      default: undefined,
      configMapKey: "proxy-cookie-domain",
      risk: "medium",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "proxy_cookie_domain.",
    }),
    "proxy-cookie-path": row({
      kind: url,
      default: undefined,
      configMapKey: "proxy-cookie-path",
      risk: "medium",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "proxy_cookie_path argument(s): off, or '<from> <to>' (spaces are removed only for the test, so two arguments pass; ~ prefix allowed, but most regex characters are not).",
    }),
    "proxy-redirect-from": row({
      kind: url,
      default: undefined,
      configMapKey: "proxy-redirect-from",
      risk: "medium",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "off/default are rendered alone; any other text is rendered together with proxy-redirect-to, and not at all when proxy-redirect-to is off.",
    }),
    "proxy-redirect-to": row({
      kind: url,
      default: undefined,
      configMapKey: "proxy-redirect-to",
      risk: "medium",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Replacement for Location/Refresh prefixes, see proxy-redirect-from.",
    }),
    "proxy-http-version": row({
      kind: oneOf(["1.0", "1.1"]),
      default: undefined,
      configMapKey: "proxy-http-version",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "HTTP version to the upstream.",
    }),
  },
  build(v) {
    const host = v["upstream-vhost"];
    const connection = v["connection-proxy-header"];
    return {
      ...(host === undefined || host === "" ? {} : { upstreamVhost: { host } }),
      ...(connection === undefined ? {} : { connectionHeader: { value: connection } }),
    };
  },
  fixed(v, place) {
    const out: Directive[] = [];
    const version = v["proxy-http-version"];
    if (version !== undefined && version !== place.settings["proxy-http-version"])
      out.push({ name: "proxy_http_version", args: [version] });
    return out;
  },
});
