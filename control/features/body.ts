/** Annotations: body. */

import { feature, row } from "../catalog/feature.ts";
import { bufferSize, oneOf, size } from "../catalog/kinds.ts";

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
});
