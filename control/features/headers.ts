/** Annotations: headers. */

import { feature, row } from "../catalog/feature.ts";
import { anyWord, hostText, oneOf } from "../catalog/kinds.ts";
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
    "upstream-vhost": row({
      kind: hostText,
      unvalidated: anyWord,
      default: undefined,
      risk: "low",
      onInvalid: "reject",
      doc: "Host header sent upstream (quoted, variables expanded).",
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
