/** Annotations: auth-basic. */

import { feature, row } from "../catalog/feature.ts";
import { basicText, oneOf, ref } from "../catalog/kinds.ts";

export const authBasic = feature({
  name: "auth-basic",
  rows: {
    "auth-type": row({
      kind: oneOf(["basic", "digest"]),
      default: undefined,
      risk: "low",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet: the locations answer 503, so that nothing is left open.",
      guards: true,
      doc: "Master switch for basic or digest authentication; without it auth-secret, auth-secret-type and auth-realm are ignored.",
    }),
    "auth-secret": row({
      kind: ref,
      default: undefined,
      risk: "medium",
      onInvalid: "deny",
      support: "none",
      note: "Not built yet: the locations answer 503, so that nothing is left open.",
      guards: true,
      doc: "Secret with the credentials.",
    }),
    "auth-secret-type": row({
      kind: oneOf(["auth-file", "auth-map"]),
      default: "auth-file",
      risk: "low",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      doc: "How to read the Secret: auth-file = key 'auth' holds an htpasswd file; auth-map = each key is a user and its value the password hash (line user:hash).",
    }),
    "auth-realm": row({
      kind: basicText,
      default: undefined,
      risk: "medium",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      doc: "Realm text in the WWW-Authenticate challenge; quoted.",
    }),
  },
});
