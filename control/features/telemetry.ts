/** Annotations: telemetry. */

import { feature, row } from "../catalog/feature.ts";
import { basicText, bool } from "../catalog/kinds.ts";

export const telemetry = feature({
  name: "telemetry",
  rows: {
    "enable-opentelemetry": row({
      kind: bool,
      default: undefined,
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Per-location on/off.",
    }),
    "opentelemetry-operation-name": row({
      kind: basicText,
      default: undefined,
      risk: "medium",
      onInvalid: "reject",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Span name.",
    }),
    "opentelemetry-trust-incoming-span": row({
      kind: bool,
      default: undefined,
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Whether incoming trace headers are trusted.",
    }),
  },
});
