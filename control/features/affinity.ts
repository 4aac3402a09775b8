/** Annotations: affinity. */

import { feature, row } from "../catalog/feature.ts";
import { basicText, bool, cookieName, int, oneOf, url } from "../catalog/kinds.ts";

/** More than 3,000 years. */
const seconds = 1e11;

export const affinity = feature({
  name: "affinity",
  rows: {
    affinity: row({
      kind: oneOf(["cookie"]),
      default: undefined,
      scope: "backend",
      risk: "low",
      onInvalid: "default",
      doc: "Session affinity by cookie. Holds for the Service port, whichever Ingress sets it; cookies are issued at the hosts and paths of Ingresses that do. Comes before load-balance and upstream-hash-by.",
    }),
    "affinity-mode": row({
      kind: oneOf(["balanced", "persistent"]),
      default: "balanced",
      scope: "backend",
      risk: "medium",
      onInvalid: "default",
      doc: "balanced: consistent hash of the cookie key (few sessions move when endpoints come or go); persistent: the key names one endpoint and holds until that disappears.",
    }),
    "affinity-canary-behavior": row({
      kind: oneOf(["sticky", "legacy"]),
      default: "sticky",
      scope: "backend",
      risk: "low",
      onInvalid: "default",
      doc: "Set on the canary Ingress. sticky: clients that came to the canary stay there; legacy: cookies bind to the primary only.",
    }),
    "session-cookie-name": row({
      kind: cookieName,
      default: "INGRESSCOOKIE",
      scope: "backend",
      risk: "medium",
      onInvalid: "default",
      doc: "Name of the cookie. Where several Ingresses share the Service port, the cookie settings of the youngest count.",
    }),
    "session-cookie-path": row({
      kind: url,
      default: undefined,
      scope: "backend",
      risk: "medium",
      onInvalid: "default",
      doc: "Path attribute; without it the path of the rule. Give one where paths are regular expressions.",
    }),
    "session-cookie-domain": row({
      kind: basicText,
      default: undefined,
      scope: "backend",
      risk: "medium",
      onInvalid: "default",
      doc: "Domain attribute.",
    }),
    "session-cookie-expires": row({
      kind: int(-seconds, seconds),
      default: undefined,
      scope: "backend",
      risk: "medium",
      onInvalid: "default",
      doc: "Seconds from now for the Expires attribute.",
    }),
    "session-cookie-max-age": row({
      kind: int(-seconds, seconds),
      default: undefined,
      scope: "backend",
      risk: "medium",
      onInvalid: "default",
      doc: "Seconds for the Max-Age attribute.",
    }),
    "session-cookie-samesite": row({
      kind: oneOf(["None", "Lax", "Strict"], true),
      default: undefined,
      scope: "backend",
      risk: "low",
      onInvalid: "default",
      doc: "SameSite attribute, in any case.",
    }),
    "session-cookie-conditional-samesite-none": row({
      kind: bool,
      default: false,
      scope: "backend",
      risk: "low",
      onInvalid: "default",
      doc: "Leave SameSite=None out for user agents that mishandle it: Chrome 40 to 69, iOS 12, Safari on macOS 10.14.",
    }),
    "session-cookie-change-on-failure": row({
      kind: bool,
      default: false,
      scope: "backend",
      risk: "low",
      onInvalid: "default",
      doc: "true: after a failed try another endpoint is chosen and the cookie replaced; false: retries stay with the endpoint of the cookie.",
    }),
    "session-cookie-secure": row({
      kind: bool,
      default: undefined,
      scope: "backend",
      risk: "low",
      onInvalid: "default",
      doc: "true: Secure on every cookie; otherwise on those sent over TLS.",
    }),
  },
});
