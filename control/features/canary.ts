/** Annotations: canary. */

import { feature, row } from "../catalog/feature.ts";
import { basicText, bool, int, regexText } from "../catalog/kinds.ts";

export const canary = feature({
  name: "canary",
  rows: {
    canary: row({
      kind: bool,
      default: false,
      risk: "low",
      onInvalid: "default",
      doc: "Marks the Ingress as an alternative for hosts/paths of a non-canary Ingress with same host, path and pathType; its other annotations are ignored except load-balance, upstream-hash-by*, service-upstream, affinity-canary-behavior (and, by accident, server-level auth-tls-*/proxy-ssl-*).",
    }),
    "canary-weight": row({
      kind: int(-(2 ** 31)),
      default: 0,
      risk: "low",
      onInvalid: "default",
      doc: "Share of requests to the canary: chosen when random(1..total) <= weight.",
    }),
    "canary-weight-total": row({
      kind: int(-(2 ** 31)),
      default: 100,
      risk: "low",
      onInvalid: "default",
      doc: "Denominator for canary-weight; Lua uses it only if > 100, else 100.",
    }),
    "canary-by-header": row({
      kind: basicText,
      default: undefined,
      risk: "medium",
      onInvalid: "default",
      doc: "Header controlling the canary: 'always' -> canary, 'never' -> primary, other values fall through to cookie, then weight.",
    }),
    "canary-by-header-value": row({
      kind: basicText,
      default: undefined,
      risk: "medium",
      onInvalid: "default",
      doc: "With canary-by-header: exact value selects the canary; any other value falls through (always/never no longer special).",
    }),
    "canary-by-header-pattern": row({
      kind: regexText,
      default: undefined,
      risk: "medium",
      onInvalid: "default",
      doc: "With canary-by-header and without canary-by-header-value: header matching the regex (case sensitive, unanchored) selects the canary, otherwise falls through; a PCRE error at request time means primary at once (cookie and weight not consulted).",
    }),
    "canary-by-cookie": row({
      kind: basicText,
      default: undefined,
      risk: "medium",
      onInvalid: "default",
      doc: "Cookie 'always' -> canary, 'never' -> primary, other -> weight rule.",
    }),
  },
});
