/** Annotations: backend-tls. */

import { feature, row } from "../catalog/feature.ts";
import { hostText, int, oneOf, ref } from "../catalog/kinds.ts";
import { cipherList, tlsProtocols } from "./setting-kinds.ts";

export const backendTls = feature({
  name: "backend-tls",
  rows: {
    "proxy-ssl-secret": row({
      kind: ref,
      default: undefined,
      risk: "medium",
      onInvalid: "reject",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Client certificate and/or trusted CA for HTTPS upstreams.",
    }),
    "proxy-ssl-ciphers": row({
      kind: cipherList,
      default: "DEFAULT",
      risk: "medium",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Rendered only when the Secret has ca.crt.",
    }),
    "proxy-ssl-name": row({
      kind: hostText,
      default: undefined,
      risk: "high",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Name used to verify the upstream certificate and, with proxy-ssl-server-name on, as SNI. A change of only this value is not noticed as a config change.",
    }),
    "proxy-ssl-protocols": row({
      kind: tlsProtocols,
      default: ["TLSv1.2"] as readonly string[],
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Tokens sorted; empty list gives TLSv1.2.",
    }),
    "proxy-ssl-server-name": row({
      kind: oneOf(["on", "off"]),
      default: "off",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Send SNI to the upstream.",
    }),
    "proxy-ssl-verify": row({
      kind: oneOf(["on", "off"]),
      default: "off",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Verify the upstream certificate; rendered only with ca.crt.",
    }),
    "proxy-ssl-verify-depth": row({
      kind: int(-(2 ** 31)),
      default: 1,
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "0 or invalid gives 1.",
    }),
  },
});
