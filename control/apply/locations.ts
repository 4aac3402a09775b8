/** Profiles and internal locations → location blocks, and the upstream blocks that they pass to. */

import type { Statement } from "../catalog/nginx-text.ts";
import type { ConfView, Family, InternalLocation, Profile } from "../plan/conf-view.ts";
import { type Printed, printDirective, quoteLua } from "../plan/directive.ts";
import { fastcgiParams } from "./fastcgi-params.ts";
import { type Lines, lines, printed, word } from "./printed.ts";
import { coreRequestHeaders, mergeHeaders } from "./request-headers.ts";
import {
  earlyLines,
  headersBeside,
  markedText,
  profileSnippets,
  responseHeadersBeside,
  snippetLines,
  statementsIn,
} from "./snippet-lines.ts";

interface Location {
  readonly match: Printed;
  readonly hooks: boolean;
  readonly hook: { readonly module: Printed } | null;
  /** Leads on to that named location. */
  readonly entry: { readonly name: Printed } | null;
  readonly upstreams: readonly Upstream[];
  readonly body: Lines;
}

interface Upstream {
  readonly name: string;
  readonly keepalive: boolean;
}

/** Where snippets act on the URI there are two: nginx finds the first, whose hook leads on to the second with the real URI. */
export function profileLocations(profile: Profile, view: ConfView): Location[] {
  if (!/^[0-9a-z]{1,40}$/.test(profile.id)) {
    throw new Error(`not a profile id: ${JSON.stringify(profile.id)}`);
  }
  const upstreams = upstreamsOf(profile.family, profile.pool, profile.keepalive !== false);
  const snippets = [...(profile.snippets ?? []), ...view.snippets.location];
  const statements = statementsIn(snippets);
  const uriFirst = "uriFirst" in profileSnippets(profile, view);
  const body = [
    ...profile.directives.map(printDirective),
    ...headerLines(profile, view, statements),
    ...responseHeadersBeside(view, statements),
    ...(uriFirst ? snippets.map(markedText) : snippetLines(snippets)),
    passLine(profile.family, upstreams, "$sluice_uri"),
  ];
  const match = `= /~${profile.id}`;
  const found = { match: printed(uriFirst ? `@${profile.id}` : match), hooks: true, hook: null, entry: null, upstreams, body: lines(body) };
  if (!uriFirst) return [found];
  const first = [...wafOff(view), ...profile.directives.filter((d) => foundFirst.has(d.name)).map(printDirective), ...earlyLines(snippets)];
  const entry = { name: printed(quoteLua(`@${profile.id}`)) };
  return [{ match: printed(match), hooks: false, hook: null, entry, upstreams: [], body: lines(first) }, found];
}

/** Where a request is not a client's, or comes by on its way: what checks all locations shall not check this one. */
export function wafOff(view: ConfView): string[] {
  return view.http.some((d) => d.name === "modsecurity") ? ["modsecurity off;"] : [];
}

/** What nginx looks at when it finds a location. */
const foundFirst = new Set(["client_max_body_size", "error_page"]);

/** The default location with hooks, for routes that need them and for paths that look like a profile's. */
export const hooked: Profile = { id: "h", family: "http", directives: [] };

export function internalLocation(location: InternalLocation, view: ConfView): Location {
  if (!/^(\/~|@)[0-9a-z-]+$/.test(location.name)) {
    throw new Error(`not an internal location: ${JSON.stringify(location.name)}`);
  }
  const upstreams = location.passTo === undefined ? upstreamsOf(location.family, location.pool, true) : [];
  const pass =
    location.passTo === undefined
      ? passLine(location.family, upstreams, "")
      : printDirective({ name: passDirective(location.family), args: [location.passTo] });
  const body = [...wafOff(view), ...location.directives.map(printDirective), ...headerLines(location, view, []), pass];
  const match = location.name.startsWith("@") ? location.name : `= ${location.name}`;
  const hook = location.hook === undefined ? null : { module: printed(quoteLua(location.hook)) };
  return { match: printed(match), hooks: false, hook, entry: null, upstreams, body: lines(body) };
}

export function locationSnippetLines(view: ConfView): string[] {
  const statements = statementsIn(view.snippets.location);
  return [
    ...headersBeside(view, ["http"], [], statements),
    ...responseHeadersBeside(view, statements),
    ...snippetLines(view.snippets.location),
  ];
}

function headerLines(
  location: Pick<Profile, "family" | "requestHeaders" | "fastcgiParams">,
  view: ConfView,
  statements: readonly Statement[],
): string[] {
  const own = location.requestHeaders ?? [];
  if (location.family !== "fcgi") return headersBeside(view, [location.family], own, statements);
  const headers = mergeHeaders(mergeHeaders(coreRequestHeaders(view), view.requestHeaders), own);
  return fastcgiParams(headers, location.fastcgiParams ?? []).map((args) => printDirective({ name: "fastcgi_param", args }));
}

function upstreamsOf(family: Family, pool: string | undefined, keepalive: boolean): Upstream[] {
  const suffix = pool === undefined ? "" : `_${word(pool).printed}`;
  const families = family === "auto" ? ["http", "https"] : [family];
  return families.map((name) => ({ name: `sluice_${name}${suffix}`, keepalive: keepalive && name !== "fcgi" }));
}

function passDirective(family: Family): string {
  if (family === "fcgi") {
    return "fastcgi_pass";
  }
  return family === "grpc" || family === "grpcs" ? "grpc_pass" : "proxy_pass";
}

// braces, because a pool's name may follow
const schemeSuffix = "_$" + "{scheme}";

function passLine(family: Family, upstreams: readonly Upstream[], uri: string): string {
  const name = upstreams[0]?.name ?? "";
  const directive = passDirective(family);
  if (family === "fcgi") {
    return printDirective({ name: directive, args: [name] });
  }
  if (directive === "grpc_pass") {
    return printDirective({ name: directive, args: [`${family}://${name}`] });
  }
  const target = family === "auto" ? `$scheme://${name.replace("_http", schemeSuffix)}` : `${family}://${name}`;
  return printDirective({ name: directive, args: [target + uri] });
}

export function upstreamViews(view: ConfView, locations: readonly Location[]): object[] {
  const all = [{ name: "sluice_http", keepalive: true }, ...locations.flatMap((location) => location.upstreams)];
  const byName = new Map(all.map((upstream) => [upstream.name, upstream]));
  const { upstreams } = view;
  const keepalive = [
    printDirective({ name: "keepalive", args: [upstreams.keepalive] }),
    printDirective({ name: "keepalive_requests", args: [upstreams.keepaliveRequests] }),
    printDirective({ name: "keepalive_timeout", args: [upstreams.keepaliveTimeout] }),
    printDirective({ name: "keepalive_time", args: [upstreams.keepaliveTime] }),
  ];
  return [...byName.values()].map(({ name, keepalive: kept }) => ({
    name: word(name),
    secure: name.startsWith("sluice_https") || name.startsWith("sluice_grpcs"),
    keepalive: kept && upstreams.keepalive > 0 ? lines(keepalive) : [],
  }));
}
