/** Annotations: fastcgi. */

import { feature, row } from "../catalog/feature.ts";
import { pattern, ref } from "../catalog/kinds.ts";

const fileName = pattern("file name", /^[A-Za-z0-9._-]+$/, "index.php", "a b");

export const fastcgi = feature({
  name: "fastcgi",
  rows: {
    "fastcgi-index": row({
      kind: fileName,
      default: undefined,
      risk: "medium",
      onInvalid: "reject",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "fastcgi_index of the location.",
    }),
    "fastcgi-params-configmap": row({
      kind: ref,
      default: undefined,
      risk: "medium",
      onInvalid: "reject",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Entries become fastcgi_param (key letters digits . - _, value letters digits - _ $ { } / .).",
    }),
  },
});
