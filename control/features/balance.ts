/** Annotations: balance. */

import { feature, row } from "../catalog/feature.ts";
import { bool, int, oneOf, variableText } from "../catalog/kinds.ts";

const algorithms = ["round_robin", "ewma", "least_conn", "p2c", "chash", "chashsubset", "sticky_balanced", "sticky_persistent"] as const;

export const balance = feature({
  name: "balance",
  rows: {
    "load-balance": row({
      kind: oneOf(algorithms),
      default: undefined,
      configMapKey: "load-balance",
      scope: "backend",
      risk: "low",
      onInvalid: "reject",
      doc: "How requests are spread over the endpoints; set by the oldest Ingress that names the Service port. least_conn (fewest requests in progress) and p2c (the better of two random endpoints) are additions. chash, chashsubset and sticky_* mean nothing by themselves: set upstream-hash-by or affinity.",
    }),
    "upstream-hash-by": row({
      kind: variableText,
      default: undefined,
      scope: "backend",
      risk: "high",
      onInvalid: "reject",
      doc: "Requests with the same key go to the same endpoint (consistent hash). Text, variables, and groups of the path ($1); what is missing is empty. Set by the oldest Ingress that names the Service port.",
    }),
    "upstream-hash-by-subset": row({
      kind: bool,
      default: false,
      scope: "backend",
      risk: "low",
      onInvalid: "reject",
      doc: "Hash to a fixed group of endpoints, any of which may serve the request.",
    }),
    "upstream-hash-by-subset-size": row({
      kind: int(-(2 ** 31)),
      default: 3,
      scope: "backend",
      risk: "low",
      onInvalid: "reject",
      doc: "Size of the groups; 0 or less is 3. The last group is filled up from the first endpoints.",
    }),
    "service-upstream": row({
      kind: bool,
      default: false,
      configMapKey: "service-upstream",
      scope: "backend",
      risk: "low",
      onInvalid: "default",
      invalid: false,
      doc: "One endpoint ClusterIP:servicePort instead of pod endpoints; falls back to pod endpoints when there is no usable ClusterIP. Taken from the first Ingress that references the upstream.",
    }),
    "sluice/max-in-flight": row({
      kind: int(0),
      default: 0,
      scope: "backend",
      risk: "low",
      onInvalid: "default",
      doc: "Requests in progress at a time for the Service port, over all workers of a pod; more are answered 503 at once. 0 is no limit. Set by the oldest Ingress that names the Service port.",
    }),
    "sluice/slow-start": row({
      kind: int(0, 86400),
      default: 0,
      scope: "backend",
      risk: "low",
      onInvalid: "default",
      doc: "Seconds in which a new endpoint comes up to its full share; 0 is at once. For round_robin, ewma, least_conn and p2c.",
    }),
  },
});
