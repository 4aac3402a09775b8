/** Annotations: waf. */

import { feature, row } from "../catalog/feature.ts";
import { bool, snippet, variableText } from "../catalog/kinds.ts";

export const waf = feature({
  name: "waf",
  rows: {
    "enable-modsecurity": row({
      kind: bool,
      default: undefined,
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "true turns ModSecurity on in the location (loads base rules file when not enabled globally and no snippet); false turns it off when enabled globally.",
    }),
    "enable-owasp-core-rules": row({
      kind: bool,
      default: false,
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Adds the CRS include in the location when ModSecurity is on there and ConfigMap enable-owasp-modsecurity-crs is false.",
    }),
    "modsecurity-snippet": row({
      kind: snippet,
      default: undefined,
      risk: "critical",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Rules placed in modsecurity_rules instead of the base file (single quotes in the text break the config).",
    }),
    "modsecurity-transaction-id": row({
      kind: variableText,
      default: undefined,
      risk: "high",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "modsecurity_transaction_id.",
    }),
  },
});
