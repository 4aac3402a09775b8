/** Annotations: address lists, and how they go together with authentication. */

import { feature, row } from "../catalog/feature.ts";
import { cidrList, oneOf } from "../catalog/kinds.ts";

export const ipAccess = feature({
  name: "ip-access",
  rows: {
    "allowlist-source-range": row({
      kind: cidrList,
      default: [],
      configMapKey: "whitelist-source-range",
      risk: "medium",
      onInvalid: "deny",
      aliases: ["whitelist-source-range"],
      guards: true,
      doc: "Only these client addresses may pass ($remote_addr after real-ip), others 403. Replaces the ConfigMap's list.",
    }),
    "denylist-source-range": row({
      kind: cidrList,
      default: [],
      configMapKey: "denylist-source-range",
      risk: "medium",
      onInvalid: "deny",
      guards: true,
      doc: "These addresses get 403; evaluated before the allow list. Replaces the ConfigMap's list.",
    }),
    satisfy: row({
      kind: oneOf(["any", "all"]),
      default: undefined,
      risk: "low",
      onInvalid: "default",
      doc: "any: passing one of allow/deny list, basic/digest auth, auth-url is enough.",
    }),
  },
  build(v, { settings }) {
    const any = v.satisfy === "any" ? { satisfy: { any: true as const } } : {};
    const [allow, deny] = [v["allowlist-source-range"], v["denylist-source-range"]];
    if (allow.length === 0 && deny.length === 0) return any;
    return {
      ...any,
      ipAccess: {
        ...(allow === settings["whitelist-source-range"] ? {} : { allow }),
        ...(deny === settings["denylist-source-range"] ? {} : { deny }),
      },
    };
  },
});
