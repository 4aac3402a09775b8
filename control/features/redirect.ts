/** permanent-redirect, temporal-redirect and how redirects of the proxy's own look; from-to-www-redirect: build/extra-hosts.ts. */

import type { FeatureDocuments } from "../../lua-src/wire.ts";
import { feature, row } from "../catalog/feature.ts";
import { anyWord, bool, int, urlWord } from "../catalog/kinds.ts";
import type { Directive } from "../model/model.ts";

/** What an annotation of another feature's row says. */
function other(values: object, name: string): unknown {
  return (values as Readonly<Record<string, unknown>>)[name];
}

/** Go's url.Parse refuses a port that is no number, and the scheme must begin with http: else the whole group was dropped. */
function isHttpUrl(url: string): boolean {
  return /^http[a-z0-9+.-]*:/i.test(url) && !/^[^/?]*:\/\/[^/?]*:(?!\d*([/?]|$))/.test(url);
}

/** relative-redirects and use-port-in-redirects; undefined: as the whole server does it. */
export function redirectStyle(values: object): FeatureDocuments["redirectStyle"] {
  const relative = other(values, "relative-redirects") === true && !isGroupIgnored(values);
  const port = other(values, "use-port-in-redirects") === true;
  return relative || port ? { ...(relative ? { relative } : {}), ...(port ? { port } : {}) } : undefined;
}

/** True: no annotation of this file counts. */
export function isGroupIgnored(values: object): boolean {
  const temporal = other(values, "temporal-redirect") as string | undefined;
  return temporal !== undefined && !isHttpUrl(temporal);
}

export const redirect = feature({
  name: "redirect",
  rows: {
    "permanent-redirect": row({
      kind: urlWord,
      unvalidated: anyWord,
      default: undefined,
      risk: "medium",
      onInvalid: "reject",
      doc: "Every request is answered with a redirect to this URL or path, on plain http too. Preflights and app-root come first, ssl-redirect after it.",
    }),
    "permanent-redirect-code": row({
      kind: int(-(2 ** 31)),
      default: 301,
      risk: "low",
      onInvalid: "reject",
      doc: "Status of permanent-redirect; outside 300..308: 301.",
    }),
    "temporal-redirect": row({
      kind: urlWord,
      unvalidated: anyWord,
      default: undefined,
      risk: "medium",
      onInvalid: "reject",
      doc: "As permanent-redirect, which it overrides, with 302. A URL whose scheme does not begin with http switches this Ingress's redirect annotations off.",
    }),
    "temporal-redirect-code": row({
      kind: int(-(2 ** 31)),
      default: 302,
      risk: "low",
      onInvalid: "reject",
      doc: "Status of temporal-redirect; outside 300..307: 302.",
    }),
    "from-to-www-redirect": row({
      kind: bool,
      default: false,
      scope: "host",
      risk: "low",
      onInvalid: "reject",
      doc: "Requests to www.<host> (or, for a host www.<name>, to <name>) are redirected to the host, unless an Ingress serves that name.",
    }),
    "relative-redirects": row({
      kind: bool,
      default: false,
      risk: "low",
      onInvalid: "reject",
      doc: "Redirects of the proxy's own to a path carry only the path. The redirect to https stays absolute.",
    }),
  },
  notices: (v) =>
    isGroupIgnored(v)
      ? [{ annotation: "temporal-redirect", reason: `"${v["temporal-redirect"]}" is no http URL; the redirect annotations have no effect` }]
      : [],
  build(v) {
    if (isGroupIgnored(v)) return undefined;
    const to = v["temporal-redirect"] ?? v["permanent-redirect"];
    if (to === undefined) return undefined;
    const style = to.startsWith("/") ? redirectStyle(v) : undefined;
    return {
      redirect: v["temporal-redirect"] === undefined ? permanent(to, v) : temporal(to, v),
      ...(style === undefined ? {} : { redirectStyle: style }),
    };
  },
  /** Redirects of a snippet, and paths that proxy_redirect puts in place, are completed by nginx itself. */
  fixed(v, place) {
    const to = (other(v, "proxy-redirect-to") as string | undefined) ?? place.settings["proxy-redirect-to"];
    if (other(v, "configuration-snippet") === undefined && !to.startsWith("/")) return [];
    const style = redirectStyle(v);
    const out: Directive[] = [];
    if (style?.relative === true) out.push({ name: "absolute_redirect", args: ["off"] });
    if (style?.port === true) out.push({ name: "port_in_redirect", args: ["on"] });
    return out;
  },
});

function permanent(to: string, v: { readonly "permanent-redirect-code": number }): { code: number; to: string } {
  const code = v["permanent-redirect-code"];
  return { code: code >= 300 && code <= 308 ? code : 301, to };
}

function temporal(to: string, v: { readonly "temporal-redirect-code": number }): { code: number; to: string } {
  const code = v["temporal-redirect-code"];
  return { code: code >= 300 && code <= 307 ? code : 302, to };
}
