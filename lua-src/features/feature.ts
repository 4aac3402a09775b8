/** What a feature's file offers, and what its steps get to see of a request. */
import type { AuthAnswer } from "../access/auth-answer";
import type { Backend } from "../balancer/peers";
import type { Hold } from "../base/holds";
import type { Check } from "../configuration/check";
import type { Route } from "../router/route";
import type { Span } from "../tracing/context";

/** One request, from routing on: ngx.ctx. The plain request has no more than the first three. */
export interface RequestState {
  readonly route: Route;
  /** Who serves it: the route's backend or its canary. */
  backend: Backend | undefined;
  /** Peers asked so far. */
  tries: number;
  /** Keys of those asked before, from the second try on. */
  tried?: LuaTable<string, true>;
  /** The upstream block, where it speaks TLS to its peers. */
  pool?: string;
  /** The peer that is measured by it. */
  held?: Hold;
  /** Session cookie that was put into the answer. */
  cookie?: string;
  /** Decoded URI for the upstream, of routes with `more`; differs from $uri once rewritten. */
  uri?: string;
  rewritten?: boolean;
  /** The upstream gets the request URI byte for byte; for locations with hooks. */
  raw?: boolean;
  /** The steps have not run yet: they follow the location's snippets. */
  later?: boolean;
  /** Stands in when `backend` has no endpoints, and answers errors. */
  fallback?: Backend;
  /** WWW-Authenticate of whoever asked for credentials. */
  challenge?: string;
  /** What the external service said. */
  authAnswer?: AuthAnswer;
  /** Status of a refusal by the access steps. */
  refused?: number;
  /** Answer with this status inside the route's location, so that its error pages apply. */
  exit?: number;
  /** Where that answer redirects to. */
  exitTo?: string;
  span?: Span;
}

/** Nothing: go on. A status ends the request; with a location it is a redirect. */
export type Step<C> = (config: C, request: RequestState) => LuaMultiReturn<[status?: number, location?: string]>;

/** `prepare` turns the document into what the steps get, once per worker and route. Steps may wait for sockets. */
export interface Feature<D, C> {
  readonly check: Check;
  readonly prepare: (document: D) => C;
  /** Before a backend is looked for (so also when there is none). */
  readonly early?: Step<C>;
  /** Once there is one. */
  readonly late?: Step<C>;
  /** Who may pass, after the late steps: 200 yes, 401, 403 or an error no, nothing no say. See phases/access.ts. */
  readonly access?: Step<C>;
  /** The request may pass, by whichever of the access steps. */
  readonly passed?: Step<C>;
  /** It may not (request.refused): may answer otherwise. */
  readonly refused?: Step<C>;
  /** header_filter: may change the answer's headers; must not wait, and what it returns is ignored. */
  readonly header?: Step<C>;
  readonly log?: Step<C>;
}
