/** Annotations: telemetry. */

import { feature, row } from "../catalog/feature.ts";
import { basicText, bool } from "../catalog/kinds.ts";

/** Said once for an object, whichever of its settings ask for it. */
export const noTelemetry = "this nginx (Debian) has no OpenTelemetry module: no traces are made";

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
      note: noTelemetry,
      doc: "Per-location on/off.",
    }),
    "opentelemetry-operation-name": row({
      kind: basicText,
      default: undefined,
      risk: "medium",
      onInvalid: "reject",
      applies: "profile",
      support: "none",
      note: noTelemetry,
      doc: "Span name.",
    }),
    "opentelemetry-trust-incoming-span": row({
      kind: bool,
      default: undefined,
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: noTelemetry,
      doc: "Whether incoming trace headers are trusted.",
    }),
  },
});
