/** Annotations: server-alias. */

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
      support: "none",
      note: "Not built yet.",
      doc: "Additional host names for every host server this Ingress's rules define.",
    }),
  },
});
