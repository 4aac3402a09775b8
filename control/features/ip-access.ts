/** Annotations: ip-access. */

import { feature, row } from "../catalog/feature.ts";
import { cidr, listOf, oneOf } from "../catalog/kinds.ts";

export const ipAccess = feature({
  name: "ip-access",
  rows: {
    "allowlist-source-range": row({
      kind: listOf(cidr),
      default: undefined,
      configMapKey: "whitelist-source-range",
      risk: "medium",
      onInvalid: "deny",
      support: "none",
      note: "Not built yet: the locations answer 503, so that nothing is left open.",
      aliases: ["whitelist-source-range"],
      guards: true,
      doc: "Only these client addresses may pass ($remote_addr after real-ip), others 403.",
    }),
    "denylist-source-range": row({
      kind: listOf(cidr),
      default: undefined,
      configMapKey: "denylist-source-range",
      risk: "medium",
      onInvalid: "deny",
      support: "none",
      note: "Not built yet: the locations answer 503, so that nothing is left open.",
      guards: true,
      doc: "These addresses get 403; evaluated before the allow list.",
    }),
    satisfy: row({
      kind: oneOf(["any", "all"]),
      default: undefined,
      risk: "low",
      onInvalid: "default",
      support: "none",
      note: "Not built yet.",
      doc: "any: passing one of allow/deny list, basic/digest auth, auth-url is enough.",
    }),
  },
});
