/** Documents of hosts and routes → what the request phases use; done once per worker, when a host is first asked for. */
import { type Backend, backendNamed } from "../balancer/peers";
import { logError } from "../base/log";
import { settings } from "../configuration/settings";
import type { RequestState } from "../features/feature";
import { compileSteps, type Steps } from "../features/order";
import type { HostDocument, RouteDocument, SourceDocument } from "../wire";

/** A location, compiled. */
export interface Route {
  readonly document: RouteDocument;
  readonly source: SourceDocument;
  /** "/~id" of the location to enter; undefined: the default location, without hooks. */
  readonly location: string | undefined;
  /** The profile that the document names is not in this worker's nginx.conf. */
  readonly foreign: boolean;
  readonly backend: Backend | undefined;
  readonly status: number | undefined;
  readonly slash: string | undefined;
  /** Before a backend is looked for: redirects, rewriting. */
  readonly early: Steps | undefined;
  /** After it: limits, access, authentication. */
  readonly late: Steps | undefined;
  readonly header: Steps | undefined;
  readonly log: Steps | undefined;
  /** Tries in all, 0 unlimited; undefined: the general setting. */
  readonly tries: number | undefined;
  /** Seconds. */
  readonly timeouts: { readonly connect?: number; readonly send?: number; readonly read?: number } | undefined;
  /** Regex mode. */
  readonly pattern: string | undefined;
  /** Lower-case start, for iprefix. */
  readonly start: string | undefined;
}

/** A host, compiled. */
export interface Host {
  readonly document: HostDocument;
  /** Something is to be decided before the path: deny, redirect, app root, catch-all paths. */
  readonly special: boolean;
  /** The route for every path, where there is just a prefix "/". */
  readonly only: Route | undefined;
  readonly exact: LuaTable<string, Route>;
  readonly prefixes: LuaTable<string, Route>;
  readonly longestPrefix: number;
  /** Regex mode, in match order. */
  readonly ordered: LuaTable<number, Route> | undefined;
  readonly orderedCount: number;
}

function seconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / 1000;
}

/** The expression of a regex route, as nginx anchors it. */
function routePattern(path: string): string {
  return `^${path}`;
}

function compileRoute(document: RouteDocument): Route {
  const steps = compileSteps(document.features);
  const { profile, features } = document;
  const hooked = steps.header !== undefined || steps.log !== undefined;
  const fixed = document.fixed as { status?: number; slash?: string } | undefined;
  const timeouts = features.timeouts;
  return {
    document,
    source: document.source,
    location: profile !== undefined ? `/~${profile}` : hooked ? "/~h" : undefined,
    foreign: profile !== undefined && settings.profiles.get(profile) === undefined,
    backend: document.backend === undefined ? undefined : backendNamed(document.backend),
    status: fixed?.status,
    slash: fixed?.slash,
    early: steps.early,
    late: steps.late,
    header: steps.header,
    log: steps.log,
    tries: features.retries?.tries,
    timeouts:
      timeouts === undefined
        ? undefined
        : { connect: seconds(timeouts.connect), send: seconds(timeouts.send), read: seconds(timeouts.read) },
    pattern: document.kind === "regex" ? routePattern(document.path) : undefined,
    start: document.kind === "iprefix" ? string.lower(document.path) : undefined,
  };
}

/** A route that cannot be compiled is left out; its neighbours stay. */
function compileHost(document: HostDocument): Host {
  const exact = new LuaTable<string, Route>();
  const prefixes = new LuaTable<string, Route>();
  const ordered = new LuaTable<number, Route>();
  let [exactCount, prefixCount, orderedCount, longestPrefix] = [0, 0, 0, 0];
  for (const routeDocument of document.routes) {
    const [ok, compiled] = pcall(compileRoute, routeDocument);
    if (!ok) {
      logError("route cannot be compiled", `${document.name}${routeDocument.path}: ${tostring(compiled)}`);
      continue;
    }
    const route = compiled as Route;
    if (routeDocument.kind === "exact") {
      exact.set(routeDocument.path, route);
      exactCount += 1;
    } else if (routeDocument.kind === "prefix") {
      prefixes.set(routeDocument.path, route);
      prefixCount += 1;
      longestPrefix = math.max(longestPrefix, routeDocument.path.length);
    } else {
      orderedCount += 1;
      ordered.set(orderedCount, route);
    }
  }
  const simple = exactCount === 0 && orderedCount === 0 && prefixCount === 1 && longestPrefix === 1;
  return {
    document,
    special: document.deny !== undefined || document.redirectTo !== undefined || document.appRoot !== undefined || document.name === "",
    only: simple ? prefixes.get("/") : undefined,
    exact,
    prefixes,
    longestPrefix,
    ordered: orderedCount > 0 ? ordered : undefined,
    orderedCount,
  };
}

export type { RequestState };
export { compileHost, routePattern };
