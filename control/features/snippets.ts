/** Annotations: snippets. */

import { feature, row } from "../catalog/feature.ts";
import { snippet } from "../catalog/kinds.ts";

export const snippets = feature({
  name: "snippets",
  rows: {
    "configuration-snippet": row({
      kind: snippet,
      default: undefined,
      risk: "critical",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Raw text in each location of the Ingress, before ConfigMap location-snippet.",
    }),
    "server-snippet": row({
      kind: snippet,
      default: undefined,
      scope: "host",
      risk: "critical",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Raw text in the server block; per host the first Ingress that has one wins.",
    }),
    "stream-snippet": row({
      kind: snippet,
      default: undefined,
      risk: "critical",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Raw text at the end of the stream block; snippets of all Ingresses concatenated (oldest first), ConfigMap stream-snippet last.",
    }),
  },
});
