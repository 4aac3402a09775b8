/**
 * proxy-redirect-*, proxy-cookie-domain and proxy-cookie-path: nginx rewrites the backend's headers. Plain texts reach the
 * profile as variables, so that all routes with plain texts share one; expressions must stand in nginx.conf.
 */

import type { ReplacementDocument } from "../../lua-src/wire.ts";
import { feature, type Place, row } from "../catalog/feature.ts";
import { type Kind, urlWord } from "../catalog/kinds.ts";
import type { Directive } from "../model/model.ts";
import { cookieDomain, cookiePath, expressionProblem, type Replacement, redirectPair } from "./replacement.ts";

const redirectText: Kind<string> = {
  ...urlWord,
  parse(text) {
    const parsed = urlWord.parse(text);
    const problem = parsed.ok ? expressionProblem(parsed.value) : undefined;
    return problem === undefined ? parsed : { ok: false, reason: problem };
  },
};

interface Values {
  readonly "proxy-cookie-domain": Replacement | undefined;
  readonly "proxy-cookie-path": Replacement | undefined;
  readonly "proxy-redirect-from": string | undefined;
  readonly "proxy-redirect-to": string | undefined;
}

interface Wanted {
  /** Of the directive and, with another first letter, of the document. */
  readonly name: "redirect" | "cookie_domain" | "cookie_path";
  readonly wanted: Replacement;
}

/** Those that differ from what the http level says. */
function differing(v: Values, place: Place): Wanted[] {
  if (!["HTTP", "HTTPS", "AUTO_HTTP"].includes(place.protocol)) return [];
  const { settings } = place;
  const redirect = redirectPair(
    v["proxy-redirect-from"] ?? settings["proxy-redirect-from"],
    v["proxy-redirect-to"] ?? settings["proxy-redirect-to"],
  );
  const all: [Wanted["name"], Replacement, Replacement][] = [
    ["redirect", redirect, redirectPair(settings["proxy-redirect-from"], settings["proxy-redirect-to"])],
    ["cookie_domain", v["proxy-cookie-domain"] ?? settings["proxy-cookie-domain"], settings["proxy-cookie-domain"]],
    ["cookie_path", v["proxy-cookie-path"] ?? settings["proxy-cookie-path"], settings["proxy-cookie-path"]],
  ];
  return all.filter(([, wanted, global]) => !isSame(wanted, global)).map(([name, wanted]) => ({ name, wanted }));
}

function isSame(a: Replacement, b: Replacement): boolean {
  return a.kind === "pair" && b.kind === "pair" ? a.from === b.from && a.to === b.to : a.kind === b.kind;
}

function directiveOf({ name, wanted }: Wanted): Directive {
  if (wanted.kind === "off") return { name: `proxy_${name}`, args: ["off"] };
  // charset of the rows: no dollar sign, no quote
  if (wanted.from.startsWith("~")) return { name: `proxy_${name}`, args: [wanted.from, wanted.to] };
  return { name: `proxy_${name}`, args: [`$sluice_${name}_from`, `$sluice_${name}_to`] };
}

const rows = {
  "proxy-cookie-domain": row({
    kind: cookieDomain,
    default: undefined,
    configMapKey: "proxy-cookie-domain",
    risk: "medium",
    onInvalid: "default",
    applies: "profile",
    doc: "off, or the domain in the backend's cookies and what replaces it, as nginx proxy_cookie_domain.",
  }),
  "proxy-cookie-path": row({
    kind: cookiePath,
    default: undefined,
    configMapKey: "proxy-cookie-path",
    risk: "medium",
    onInvalid: "default",
    applies: "profile",
    doc: "off, or the beginning of the path in the backend's cookies and what replaces it, as nginx proxy_cookie_path.",
  }),
  "proxy-redirect-from": row({
    kind: redirectText,
    default: undefined,
    configMapKey: "proxy-redirect-from",
    risk: "medium",
    onInvalid: "default",
    applies: "profile",
    doc: "Beginning of the backend's Location and Refresh that proxy-redirect-to replaces; off and default leave them alone, and so does a missing proxy-redirect-to.",
  }),
  "proxy-redirect-to": row({
    kind: urlWord,
    default: undefined,
    configMapKey: "proxy-redirect-to",
    risk: "medium",
    onInvalid: "default",
    applies: "profile",
    doc: "See proxy-redirect-from. A path is completed with scheme and host of the request.",
  }),
};

export const answerRewrite = feature({
  name: "answer-rewrite",
  rows,
  build(v, place) {
    const out: { redirect?: ReplacementDocument; cookieDomain?: ReplacementDocument; cookiePath?: ReplacementDocument } = {};
    for (const { name, wanted } of differing(v, place)) {
      if (wanted.kind === "off" || wanted.from.startsWith("~")) continue;
      if (name === "redirect") out.redirect = { from: wanted.from, to: wanted.to };
      // nginx drops a leading dot of a text that stands in the file
      else if (name === "cookie_domain") out.cookieDomain = { from: wanted.from.replace(/^\./, ""), to: wanted.to };
      else out.cookiePath = { from: wanted.from, to: wanted.to };
    }
    return Object.keys(out).length === 0 ? undefined : { answerRewrite: out };
  },
  fixed: (v, place) => differing(v, place).map(directiveOf),
});
