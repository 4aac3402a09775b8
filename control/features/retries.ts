/** Annotations: retries. */

import { feature, row } from "../catalog/feature.ts";
import { int } from "../catalog/kinds.ts";
import { nextUpstream } from "./setting-kinds.ts";

export const retries = feature({
  name: "retries",
  rows: {
    "proxy-next-upstream": row({
      kind: nextUpstream,
      default: undefined,
      configMapKey: "proxy-next-upstream",
      risk: "medium",
      onInvalid: "default",
      applies: "profile",
      doc: "When to try another endpoint.",
    }),
    "proxy-next-upstream-timeout": row({
      kind: int(0),
      default: undefined,
      configMapKey: "proxy-next-upstream-timeout",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "Total time for retries.",
    }),
    "proxy-next-upstream-tries": row({
      kind: int(0),
      default: 3,
      configMapKey: "proxy-next-upstream-tries",
      risk: "low",
      onInvalid: "default",
      doc: "Number of tries incl.",
    }),
  },
});
