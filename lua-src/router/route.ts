/**
 * Documents of hosts and routes → what the request phases use; done once per worker, when a host is first asked for.
 * The tables are small on purpose: what most hosts and routes do not have lies in `more`, so 5,000 hosts fit a worker
 * and the plain request touches little memory.
 */
import { type Backend, backendNamed } from "../balancer/peers";
import { logError } from "../base/log";
import { type ProfileSettings, type RedirectSettings, settings } from "../configuration/settings";
import { compileSteps, type Steps } from "../features/order";
import { compileTls, type HostTls } from "../tls/host-tls";
import type { HostDocument, RouteDocument } from "../wire";

/** A location, compiled. */
export interface Route {
  readonly backend: Backend | undefined;
  /** undefined: proxied by the default location, with no steps and general settings. */
  readonly more: RouteMore | undefined;
  /** From 1: namespace, ingress, service, port, path, of a wildcard host what follows the "*". */
  readonly source: LuaTable<number, string>;
  /** Place in the document's list, from 1. */
  readonly index: number;
}

export interface RouteMore {
  readonly profile: string | undefined;
  /** "/~id" of the location to enter; undefined: the default location, without hooks. */
  readonly location: string | undefined;
  /** What the location's snippets ask for; undefined: nothing. */
  readonly own: ProfileSettings | undefined;
  /** No line in the access log; for snippets that may answer before the steps run. */
  readonly quiet: boolean;
  /** The profile that the document names is not in this worker's nginx.conf. */
  readonly foreign: boolean;
  readonly status: number | undefined;
  readonly slash: string | undefined;
  /** Before a backend is looked for: redirects, rewriting. */
  readonly early: Steps | undefined;
  /** After it: limits. */
  readonly late: Steps | undefined;
  /** After those: phases/access.ts. */
  readonly access: Steps | undefined;
  readonly passed: Steps | undefined;
  readonly refused: Steps | undefined;
  /** satisfy any. */
  readonly anyAccess: boolean;
  /** Address lists of its own or the ConfigMap's, so not the server's block-cidrs. */
  readonly ownLists: boolean;
  readonly header: Steps | undefined;
  readonly log: Steps | undefined;
  readonly redirects: RedirectSettings | undefined;
  /** Tries in all, 0 unlimited; undefined: the general setting. */
  readonly tries: number | undefined;
  /** undefined: the general setting. */
  readonly retriesRefused: boolean | undefined;
  /** The backend learns from the end of each request. */
  readonly measures: boolean;
  /** Clients get session cookies here. */
  readonly issuesSession: boolean;
  /** Seconds. */
  readonly timeouts: { readonly connect?: number; readonly send?: number; readonly read?: number } | undefined;
}

/** In regex mode: one of the two is there. */
export interface OrderedRoute {
  readonly pattern: string | undefined;
  /** Lower-case start, for iprefix. */
  readonly start: string | undefined;
  readonly route: Route;
}

/** A host, compiled. */
export interface Host {
  /** The route for every path, where there is just a prefix "/". */
  readonly only: Route | undefined;
  /** By path: prefixes end in "/", exact paths do not. */
  readonly paths: LuaTable<string, Route>;
  readonly longestPrefix: number;
  readonly more: HostMore | undefined;
}

export interface HostMore {
  readonly catchAll: boolean;
  readonly aliasOf: string | undefined;
  readonly deny: number | undefined;
  readonly tls: HostTls | undefined;
  readonly redirectTo: HostDocument["redirectTo"];
  readonly appRoot: string | undefined;
  /** Exact paths that end in "/". */
  readonly exactSlash: LuaTable<string, Route> | undefined;
  /** Regex mode, in match order. */
  readonly ordered: LuaTable<number, OrderedRoute> | undefined;
  readonly orderedCount: number;
}

function seconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / 1000;
}

/** The expression of a regex route, as nginx anchors it. */
function routePattern(path: string): string {
  return `^${path}`;
}

function ownSettings(profile: string): ProfileSettings | undefined {
  const own = settings.profiles.get(profile);
  const asks = own !== undefined && (own.uriFirst === true || own.variables === true);
  return asks ? own : undefined;
}

function compileMore(document: RouteDocument): RouteMore | undefined {
  const { profile, features } = document;
  const [anyFeature] = next(features as unknown as LuaTable<string, unknown>);
  if (profile === undefined && document.fixed === undefined && anyFeature === undefined) {
    return undefined;
  }
  const steps = compileSteps(features);
  const hooked = steps.header !== undefined || steps.log !== undefined;
  const fixed = document.fixed as { status?: number; slash?: string } | undefined;
  const timeouts = features.timeouts;
  return {
    profile,
    location: profile !== undefined ? `/~${profile}` : hooked ? "/~h" : undefined,
    own: ownSettings(profile ?? "h"),
    quiet: features.accessLog !== undefined,
    foreign: profile !== undefined && settings.profiles.get(profile) === undefined,
    status: fixed?.status,
    slash: fixed?.slash,
    early: steps.early,
    late: steps.late,
    access: steps.access,
    passed: steps.passed,
    refused: steps.refused,
    anyAccess: features.satisfy !== undefined,
    ownLists: features.ipAccess !== undefined,
    header: steps.header,
    log: steps.log,
    redirects: features.redirectStyle,
    tries: features.retries?.tries,
    retriesRefused: features.retries?.refused,
    measures: features.measure !== undefined,
    issuesSession: features.session !== undefined,
    timeouts:
      timeouts === undefined
        ? undefined
        : { connect: seconds(timeouts.connect), send: seconds(timeouts.send), read: seconds(timeouts.read) },
  };
}

function compileRoute(document: RouteDocument, index: number, host: string): Route {
  const { namespace, ingress, service, port, path } = document.source;
  const source = [namespace, ingress, service, port, path] as unknown as LuaTable<number, string>;
  if (string.sub(host, 1, 2) === "*.") {
    source.set(6, string.sub(host, 2));
  }
  const backend = document.backend === undefined ? undefined : backendNamed(document.backend);
  return { backend, more: compileMore(document), source, index };
}

interface Draft {
  readonly paths: LuaTable<string, Route>;
  count: number;
  longestPrefix: number;
  exactSlash: LuaTable<string, Route> | undefined;
  ordered: LuaTable<number, OrderedRoute> | undefined;
  orderedCount: number;
}

function addRoute(draft: Draft, { kind, path }: RouteDocument, route: Route): void {
  if (kind === "regex" || kind === "iprefix") {
    const isRegex = kind === "regex";
    draft.ordered = draft.ordered ?? new LuaTable();
    draft.orderedCount += 1;
    draft.ordered.set(draft.orderedCount, {
      pattern: isRegex ? routePattern(path) : undefined,
      start: isRegex ? undefined : string.lower(path),
      route,
    });
  } else if (kind === "exact" && string.sub(path, -1) === "/") {
    draft.exactSlash = draft.exactSlash ?? new LuaTable();
    draft.exactSlash.set(path, route);
  } else {
    draft.paths.set(path, route);
    draft.count += 1;
    if (kind === "prefix") {
      draft.longestPrefix = math.max(draft.longestPrefix, path.length);
    }
  }
}

function compileHostMore(document: HostDocument, draft: Draft): HostMore | undefined {
  const { name, aliasOf, deny, tls, redirectTo, appRoot } = document;
  const { exactSlash, ordered, orderedCount } = draft;
  const plain = aliasOf === undefined && deny === undefined && tls === undefined && redirectTo === undefined && appRoot === undefined;
  if (plain && name !== "" && exactSlash === undefined && ordered === undefined) {
    return undefined;
  }
  return {
    catchAll: name === "",
    aliasOf,
    deny,
    tls: tls === undefined ? undefined : compileTls(name, tls),
    redirectTo,
    appRoot,
    exactSlash,
    ordered,
    orderedCount,
  };
}

/** A route that cannot be compiled answers 503: left out, it would leave its requests to a shorter path, which may ask nobody for credentials. */
function compileOrDeny(host: string, document: RouteDocument, index: number): Route {
  const [ok, compiled] = pcall(compileRoute, document, index, host);
  if (ok) {
    return compiled as Route;
  }
  const { kind, path, source } = document;
  logError("route cannot be compiled, it answers 503", `${host}${path}: ${tostring(compiled)}`);
  return compileRoute({ kind, path, source, features: {}, fixed: { status: 503 } }, index, host);
}

function compileHost(document: HostDocument): Host {
  const draft: Draft = { paths: new LuaTable(), count: 0, longestPrefix: 0, exactSlash: undefined, ordered: undefined, orderedCount: 0 };
  let index = 0;
  for (const routeDocument of document.routes) {
    index += 1;
    addRoute(draft, routeDocument, compileOrDeny(document.name, routeDocument, index));
  }
  const more = compileHostMore(document, draft);
  const single = draft.count === 1 && draft.longestPrefix === 1 && draft.exactSlash === undefined && draft.ordered === undefined;
  return { only: single ? draft.paths.get("/") : undefined, paths: draft.paths, longestPrefix: draft.longestPrefix, more };
}

export { compileHost, routePattern };
