/** ConfigMap keys: who may pass and what annotations may ask for. */

import type { Risk } from "../../catalog/feature.ts";
import { bool, cidr, int, listOf, oneOf, sift, snippet, text, url, variableText } from "../../catalog/kinds.ts";
import { setting } from "../../catalog/settings.ts";
import { authMethods, cacheDurations, carriedHeaders, defaultDurations, serviceUrl } from "../auth-kinds.ts";
import { goodCidrs, riskLevel } from "../setting-kinds.ts";

export const accessSettings = {
  "allow-cross-namespace-resources": setting({
    kind: bool,
    default: false,
    doc: "Allows auth-secret, auth-tls-secret, proxy-ssl-secret, auth-proxy-set-headers, fastcgi-params-configmap to name another namespace. custom-headers is not covered (never checked).",
  }),
  "allow-snippet-annotations": setting({
    kind: bool,
    default: false,
    doc: 'Master gate for the five *-snippet annotations. false: webhook rejects any annotation key ending in "-snippet"; at run time the parsed snippets are blanked (Ingress otherwise kept). Snippets also need annotations-risk-level=Critical.',
  }),
  "annotation-value-word-blocklist": setting({
    kind: listOf(text),
    default: [] as readonly string[],
    doc: "If a value of an annotation under the configured prefix contains any word, Ingress is rejected (webhook) / skipped (run time). Webhook trims each word, run time does not. Off when empty (older releases had a default list).",
  }),
  "annotations-risk-level": setting({
    kind: riskLevel,
    default: "high" as Risk,
    doc: "Highest accepted annotation risk. An Ingress using a riskier annotation (or its alias) is rejected as a whole. Unknown text means Low (strictest).",
  }),
  "block-cidrs": setting({
    kind: goodCidrs,
    default: [] as readonly string[],
    doc: "403; http level, so not inherited by locations having their own allow/deny lists.",
  }),
  "block-referers": setting({
    kind: listOf(text),
    default: [] as readonly string[],
    doc: "Map patterns on Referer, 403.",
  }),
  "block-user-agents": setting({
    kind: listOf(text),
    default: [] as readonly string[],
    doc: "Map patterns (plain = exact, ~ / ~* regex) on User-Agent, 403.",
  }),
  "denylist-source-range": setting({
    kind: goodCidrs,
    default: [] as readonly string[],
    doc: "Default of denylist-source-range.",
  }),
  "enable-modsecurity": setting({
    kind: bool,
    default: false,
    applies: "reload",
    doc: "ModSecurity on for all locations; with the base rules, or those of modsecurity-snippet.",
  }),
  "enable-owasp-modsecurity-crs": setting({
    kind: bool,
    default: false,
    applies: "reload",
    doc: "The core rule set for all locations (only together with enable-modsecurity).",
  }),
  "global-auth-always-set-cookie": setting({
    kind: bool,
    default: false,
    doc: "Hand on Set-Cookie of the auth response with every status.",
  }),
  "global-auth-cache-duration": setting({
    kind: cacheDurations,
    default: undefined,
    invalid: defaultDurations,
    doc: "As auth-cache-duration. Without the key only answers that say so themselves are kept; empty or not understood: 200 202 401 5m.",
  }),
  "global-auth-cache-key": setting({
    kind: variableText,
    default: undefined,
    doc: "As auth-cache-key.",
  }),
  "global-auth-method": setting({
    kind: oneOf(authMethods),
    default: undefined,
    doc: "As auth-method; an unknown method is told and ignored.",
  }),
  "global-auth-request-redirect": setting({
    kind: text,
    default: undefined,
    doc: "Value of X-Auth-Request-Redirect; may hold variables.",
  }),
  "global-auth-response-headers": setting({
    kind: carriedHeaders,
    default: [] as readonly string[],
    doc: "As auth-response-headers; what is no header name is skipped.",
  }),
  "global-auth-signin": setting({
    kind: serviceUrl,
    default: undefined,
    doc: "As auth-signin. Needs scheme and host; ignored otherwise.",
  }),
  "global-auth-signin-redirect-param": setting({
    kind: url,
    default: undefined,
    doc: "As auth-signin-redirect-param; default rd.",
  }),
  "global-auth-snippet": setting({
    kind: snippet,
    default: undefined,
    support: "partial",
    note: "As auth-snippet: some directives are honoured, with any other the locations answer 503.",
    doc: "Directives for the auth request of global-auth-url.",
  }),
  "global-auth-url": setting({
    kind: serviceUrl,
    default: undefined,
    // no URL is empty: marks that there should be one
    invalid: "",
    doc: "External auth for all locations of Ingresses that have no own auth-url and enable-global-auth true. Must have scheme and host; with any other text these locations answer 503. Not applied on the bare default server.",
  }),
  "global-external-auth": setting({
    kind: text,
    default: undefined,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "Internal struct; cannot be set usefully as a ConfigMap string.",
  }),
  "limit-conn-status-code": setting({
    kind: int(400, 599),
    default: 503,
    doc: "Answer to what is above limit-connections.",
  }),
  "limit-conn-zone-variable": setting({
    kind: variableText,
    default: "$binary_remote_addr",
    doc: "By what limits tell clients apart; text with variables. Requests for which it is empty are not limited.",
  }),
  "limit-req-status-code": setting({
    kind: int(400, 599),
    default: 503,
    doc: "Answer to what is above limit-rps or limit-rpm.",
  }),
  "modsecurity-snippet": setting({
    kind: snippet,
    default: "",
    applies: "reload",
    doc: "Rules in place of the base rules, in ModSecurity's own language.",
  }),
  "nginx-status-ipv4-whitelist": setting({
    kind: sift(cidr),
    default: ["127.0.0.1/32"] as readonly string[],
    doc: "Who may read /nginx_status on the catch-all server.",
  }),
  "nginx-status-ipv6-whitelist": setting({
    kind: sift(cidr),
    default: ["::1/128"] as readonly string[],
    doc: "Same for IPv6 (written only if IPv6 is enabled).",
  }),
  "no-auth-locations": setting({
    kind: listOf(text),
    default: ["/.well-known/acme-challenge"] as readonly string[],
    doc: "Location paths starting with an item skip external and basic/digest auth.",
  }),
  "strict-validate-path-type": setting({
    kind: bool,
    default: true,
    doc: "Webhook only: paths of type Exact, Prefix or unset must match ^/[A-Za-z0-9._-/]*$ (any case); others need ImplementationSpecific. Docs omit the dot.",
  }),
  "whitelist-source-range": setting({
    kind: goodCidrs,
    default: [] as readonly string[],
    doc: "Default of allowlist-source-range; replaced, not merged, by the annotation.",
  }),
} as const;
