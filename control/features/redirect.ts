/** Annotations: redirect. */

import { feature, row } from "../catalog/feature.ts";
import { bool, int, url } from "../catalog/kinds.ts";

export const redirect = feature({
  name: "redirect",
  rows: {
    "permanent-redirect": row({
      kind: url,
      default: undefined,
      risk: "medium",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      doc: "return <code> <url> for the location.",
    }),
    "permanent-redirect-code": row({
      kind: int(-(2 ** 31)),
      default: 301,
      risk: "low",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      doc: "Outside 300..308: 301.",
    }),
    "temporal-redirect": row({
      kind: url,
      default: undefined,
      risk: "medium",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      doc: "return <code> <url> for the location, code from temporal-redirect-code.",
    }),
    "temporal-redirect-code": row({
      kind: int(-(2 ** 31)),
      default: 302,
      risk: "low",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      doc: "Outside 300..307: 302.",
    }),
    "from-to-www-redirect": row({
      kind: bool,
      default: false,
      scope: "host",
      risk: "low",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      doc: "Adds a redirect server for www.<host> (or for <host> without www.",
    }),
    "relative-redirects": row({
      kind: bool,
      default: false,
      risk: "low",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      doc: "absolute_redirect off in the location: nginx-made redirects carry only a path.",
    }),
  },
});
