/** Annotations: removed. */

import { feature, row } from "../catalog/feature.ts";
import { text } from "../catalog/kinds.ts";

export const removed = feature({
  name: "removed",
  rows: {
    "enable-influxdb": row({
      kind: text,
      default: undefined,
      scope: "ingress",
      risk: "low",
      onInvalid: "default",
      support: "none",
      note: "Removed from ingress-nginx before its end; it has no effect.",
      doc: "No effect.",
    }),
    "influxdb-measurement": row({
      kind: text,
      default: undefined,
      scope: "ingress",
      risk: "low",
      onInvalid: "default",
      support: "none",
      note: "Removed from ingress-nginx before its end; it has no effect.",
      doc: "No effect.",
    }),
    "influxdb-port": row({
      kind: text,
      default: undefined,
      scope: "ingress",
      risk: "low",
      onInvalid: "default",
      support: "none",
      note: "Removed from ingress-nginx before its end; it has no effect.",
      doc: "No effect.",
    }),
    "influxdb-host": row({
      kind: text,
      default: undefined,
      scope: "ingress",
      risk: "low",
      onInvalid: "default",
      support: "none",
      note: "Removed from ingress-nginx before its end; it has no effect.",
      doc: "No effect.",
    }),
    "influxdb-server-name": row({
      kind: text,
      default: undefined,
      scope: "ingress",
      risk: "low",
      onInvalid: "default",
      support: "none",
      note: "Removed from ingress-nginx before its end; it has no effect.",
      doc: "No effect.",
    }),
    "secure-verify-ca-secret": row({
      kind: text,
      default: undefined,
      scope: "ingress",
      risk: "low",
      onInvalid: "default",
      support: "none",
      note: "Removed from ingress-nginx before its end; it has no effect.",
      doc: "No effect.",
    }),
  },
});
