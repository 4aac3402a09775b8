/** Annotations: balance. */

import { feature, row } from "../catalog/feature.ts";
import { bool, int, oneOf, variableText } from "../catalog/kinds.ts";

export const balance = feature({
  name: "balance",
  rows: {
    "load-balance": row({
      kind: oneOf(["round_robin", "ewma", "chash", "chashsubset", "sticky_balanced", "sticky_persistent"]),
      default: undefined,
      scope: "backend",
      risk: "low",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      doc: "Algorithm of the upstream (service+port); set by the first Ingress that references the upstream.",
    }),
    "upstream-hash-by": row({
      kind: variableText,
      default: undefined,
      scope: "backend",
      risk: "high",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      doc: "Consistent hash key; text and variables concatenated, missing variables empty.",
    }),
    "upstream-hash-by-subset": row({
      kind: bool,
      default: false,
      scope: "backend",
      risk: "low",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      doc: "Hash to a fixed subset, random endpoint inside.",
    }),
    "upstream-hash-by-subset-size": row({
      kind: int(0),
      default: 3,
      scope: "backend",
      risk: "low",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      doc: "Subset size; last subset padded by reusing endpoints from the start.",
    }),
    "service-upstream": row({
      kind: bool,
      default: false,
      configMapKey: "service-upstream",
      scope: "backend",
      risk: "low",
      onInvalid: "default",
      doc: "One endpoint ClusterIP:servicePort instead of pod endpoints; falls back to pod endpoints when there is no usable ClusterIP. Taken from the first Ingress that references the upstream.",
    }),
  },
});
