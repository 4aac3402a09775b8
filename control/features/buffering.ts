/** Annotations: buffering. */

import { feature, row } from "../catalog/feature.ts";
import { bufferSize, int, oneOf, size } from "../catalog/kinds.ts";

export const buffering = feature({
  name: "buffering",
  rows: {
    "proxy-buffering": row({
      kind: oneOf(["on", "off"]),
      default: undefined,
      configMapKey: "proxy-buffering",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "Response buffering.",
    }),
    "proxy-buffer-size": row({
      kind: bufferSize,
      default: undefined,
      configMapKey: "proxy-buffer-size",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "proxy_buffer_size and size of each of proxy_buffers.",
    }),
    "proxy-buffers-number": row({
      kind: int(1, 100000),
      default: undefined,
      configMapKey: "proxy-buffers-number",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "First argument of proxy_buffers (second is proxy-buffer-size).",
    }),
    "proxy-busy-buffers-size": row({
      kind: bufferSize,
      default: undefined,
      configMapKey: "proxy-busy-buffers-size",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "proxy_busy_buffers_size.",
    }),
    "proxy-max-temp-file-size": row({
      kind: size,
      default: undefined,
      configMapKey: "proxy-max-temp-file-size",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "Rendered only when digits with optional k m g.",
    }),
  },
});
