/** Annotations: canary. */

import { feature, row } from "../catalog/feature.ts";
import { basicText, bool, int, type Kind, regexText } from "../catalog/kinds.ts";

interface ClientMark {
  readonly kind: "cookie" | "header";
  readonly name: string;
}

/** What tells clients apart. */
export const clientMark: Kind<ClientMark> = {
  label: "cookie:NAME or header:NAME",
  parse(text) {
    const m = /^(cookie|header):([A-Za-z0-9_-]+)$/.exec(text.trim());
    if (m === null) return { ok: false, reason: `"${text}" is neither cookie:NAME nor header:NAME` };
    return { ok: true, value: { kind: m[1] as ClientMark["kind"], name: m[2] ?? "" } };
  },
  examples: ["cookie:user", "user"],
  schema: { type: "string", pattern: "^(cookie|header):[A-Za-z0-9_-]+$" },
};

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
      doc: "Requests of canary-weight-total that go to the canary, exact over any such number of requests of a worker. Comes after header and cookie.",
    }),
    "canary-weight-total": row({
      kind: int(-(2 ** 31)),
      default: 100,
      risk: "low",
      onInvalid: "default",
      doc: "What canary-weight is a part of; at least 100.",
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
    "sluice/canary-sticky": row({
      kind: clientMark,
      default: undefined,
      risk: "low",
      onInvalid: "default",
      doc: "Keeps a client on one side of a weighted canary: by a hash of this cookie or header, cookie:NAME or header:NAME. Raising the weight moves clients to the canary only. Clients without it are counted as usual.",
    }),
  },
});
