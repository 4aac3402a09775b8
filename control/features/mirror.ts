/** Annotations: mirror. */

import { feature, row } from "../catalog/feature.ts";
import { hostText, oneOf } from "../catalog/kinds.ts";

export const mirror = feature({
  name: "mirror",
  rows: {
    "mirror-target": row({
      kind: hostText,
      default: undefined,
      risk: "high",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Copies each request to this URL through internal location /_mirror-<ingress UID>; response discarded.",
    }),
    "mirror-host": row({
      kind: hostText,
      default: undefined,
      risk: "high",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Host header of the mirrored request.",
    }),
    "mirror-request-body": row({
      kind: oneOf(["on", "off"]),
      default: "on",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Whether the body is mirrored; anything but off means on.",
    }),
  },
});
