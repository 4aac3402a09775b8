/** Annotations: body. */

import { feature, row } from "../catalog/feature.ts";
import { bufferSize, oneOf, size } from "../catalog/kinds.ts";
import type { Directive } from "../model/model.ts";

export const body = feature({
  name: "body",
  rows: {
    "client-body-buffer-size": row({
      kind: bufferSize,
      default: undefined,
      risk: "low",
      onInvalid: "reject",
      applies: "profile",
      doc: "Memory buffer for the request body in this location.",
    }),
    "proxy-body-size": row({
      kind: size,
      default: undefined,
      configMapKey: "proxy-body-size",
      risk: "medium",
      onInvalid: "default",
      applies: "profile",
      doc: "Maximum request body; larger gives 413.",
    }),
    "proxy-request-buffering": row({
      kind: oneOf(["on", "off"]),
      default: undefined,
      configMapKey: "proxy-request-buffering",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "Buffer the request body before sending it upstream.",
    }),
  },
  fixed(v, place) {
    const out: Directive[] = [];
    const limit = v["proxy-body-size"];
    if (limit !== undefined && limit !== place.settings["proxy-body-size"]) out.push({ name: "client_max_body_size", args: [limit] });
    const buffer = v["client-body-buffer-size"];
    if (buffer !== undefined && buffer !== place.settings["client-body-buffer-size"]) {
      out.push({ name: "client_body_buffer_size", args: [buffer] });
    }
    const buffering = v["proxy-request-buffering"];
    if (buffering !== undefined && buffering !== place.settings["proxy-request-buffering"] && !place.protocol.startsWith("GRPC")) {
      out.push({ name: place.protocol === "FCGI" ? "fastcgi_request_buffering" : "proxy_request_buffering", args: [buffering] });
    }
    return out;
  },
});
