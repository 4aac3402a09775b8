/** Annotations: rewrite. */

import { feature, row } from "../catalog/feature.ts";
import { absolutePath, bool, urlPath } from "../catalog/kinds.ts";

export const rewrite = feature({
  name: "rewrite",
  rows: {
    "rewrite-target": row({
      kind: urlPath,
      default: undefined,
      risk: "medium",
      onInvalid: "default",
      doc: "Rewrites the URI before proxying: regex = location path, case-insensitive, UNANCHORED (first match in the URI), flag break; whole URI replaced by target.",
    }),
    "use-regex": row({
      kind: bool,
      default: false,
      risk: "low",
      onInvalid: "default",
      doc: "Treat the paths of the Ingress as regexes; effect is host-wide as for rewrite-target.",
    }),
    "x-forwarded-prefix": row({
      kind: urlPath,
      default: undefined,
      risk: "medium",
      onInvalid: "reject",
      doc: "X-Forwarded-Prefix request header to the upstream; only written in locations where rewrite-target is active (target set and different from the path).",
    }),
    "app-root": row({
      kind: absolutePath,
      default: undefined,
      scope: "host",
      risk: "medium",
      onInvalid: "default",
      doc: "GET/any request for exactly / gets 302 to scheme://http_host<app-root> (server level, so the host's / regardless of the location; several Ingresses: first in location order).",
    }),
  },
  build(v, place) {
    const target = v["rewrite-target"];
    if (target === undefined || target === "") return undefined;
    // A Prefix path is the very path and what lies below "path/": a target equal to the path replaces only the latter.
    if (target === place.path) return place.exact || target.endsWith("/") ? undefined : { rewrite: { from: `${target}/`, target } };
    const prefix = v["x-forwarded-prefix"];
    return { rewrite: { from: place.path, target, ...(prefix === undefined || prefix === "" ? {} : { forwardedPrefix: prefix }) } };
  },
});
