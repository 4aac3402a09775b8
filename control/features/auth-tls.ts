/** Annotations: auth-tls. */

import { feature, row } from "../catalog/feature.ts";
import { bool, int, oneOf, ref, text, url } from "../catalog/kinds.ts";

export const authTls = feature({
  name: "auth-tls",
  rows: {
    "auth-tls-secret": row({
      kind: ref,
      default: undefined,
      scope: "host",
      risk: "medium",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet: the locations answer 503, so that nothing is left open.",
      guards: true,
      doc: "Enables mutual TLS for the whole host server with this CA; without it the other auth-tls-* are ignored.",
    }),
    "auth-tls-verify-client": row({
      kind: oneOf(["on", "off", "optional", "optional_no_ca"]),
      default: "on",
      scope: "host",
      risk: "medium",
      onInvalid: "default",
      support: "none",
      note: "Not built yet.",
      doc: "Verification mode.",
    }),
    "auth-tls-verify-depth": row({
      kind: int(-(2 ** 31)),
      default: 1,
      scope: "host",
      risk: "low",
      onInvalid: "default",
      support: "none",
      note: "Not built yet.",
      doc: "Chain depth; 0 or invalid gives 1.",
    }),
    "auth-tls-error-page": row({
      kind: url,
      default: undefined,
      scope: "host",
      risk: "high",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      doc: "error_page 495 496 target when the certificate is bad or missing.",
    }),
    "auth-tls-pass-certificate-to-upstream": row({
      kind: bool,
      default: false,
      risk: "low",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      doc: "Adds ssl-client-cert (URL-escaped PEM) to the upstream and auth requests.",
    }),
    "auth-tls-match-cn": row({
      kind: text,
      default: undefined,
      scope: "host",
      risk: "high",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet: the locations answer 503, so that nothing is left open.",
      guards: true,
      doc: "Server-level check: if subject DN does not match the (whole, incl.",
    }),
  },
});
