/** Annotations: access-log. */

import { feature, row } from "../catalog/feature.ts";
import { bool } from "../catalog/kinds.ts";

export const accessLog = feature({
  name: "access-log",
  rows: {
    "enable-access-log": row({
      kind: bool,
      default: true,
      risk: "low",
      onInvalid: "default",
      doc: "false: access_log off in the location.",
    }),
    "enable-rewrite-log": row({
      kind: bool,
      default: false,
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "rewrite_log on (needs error-log-level notice or lower).",
    }),
  },
  build: (v) => (v["enable-access-log"] ? undefined : { accessLog: { off: true } }),
  fixed: (v) => (v["enable-rewrite-log"] ? [{ name: "rewrite_log", args: ["on"] }] : []),
});
