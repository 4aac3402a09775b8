/** Annotations: server-alias. What becomes of the names: build/extra-hosts.ts. */

import { feature, row } from "../catalog/feature.ts";
import { hostText, listOf } from "../catalog/kinds.ts";

export const serverAlias = feature({
  name: "server-alias",
  rows: {
    "server-alias": row({
      kind: listOf(hostText),
      default: [] as readonly string[],
      scope: "host",
      risk: "high",
      onInvalid: "reject",
      doc: "More names for every host of the Ingress: plain ones, *.name and name.* at any depth, ~expressions. A host of any Ingress beats an alias; per host the oldest Ingress with a list counts.",
    }),
  },
});
