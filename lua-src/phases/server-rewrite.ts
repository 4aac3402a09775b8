/**
 * server_rewrite_by_lua: finds host, route and backend before nginx picks a location, and points the request at the
 * location of its route's profile. The plain case leaves the URI alone, so nginx takes `location /`.
 */
import { clientBytes } from "../access/client-address";
import { isBlockedClient } from "../access/client-blocks";
import { contains } from "../access/networks";
import { chooseAlternative } from "../balancer/choose";
import { type Backend, refreshBackend } from "../balancer/peers";
import { endHolds, endPassingHolds, holds } from "../base/holds";
import { logError } from "../base/log";
import { currentGeneral, generalState } from "../configuration/general";
import { settings } from "../configuration/settings";
import { sync } from "../configuration/sync";
import { keepState, standIn } from "../features/custom-errors";
import type { RequestState } from "../features/feature";
import { runSteps, type Steps } from "../features/order";
import { fillRouteVariables } from "../features/route-variables";
import { findHost } from "../router/host";
import { snippetLocation } from "../router/own-locations";
import { matchPath } from "../router/path";
import type { HostMore, Route, RouteMore } from "../router/route";
import { checkAccess } from "./access";
import { absolute, answerDenial, answerHost, endRequest, slashLocation } from "./answers";
import { admitClient } from "./client";

const tilde = string.byte("~");
const slash = string.byte("/");

/** A path that looks like one of our locations must not pick it. True: the request stays where its URI leads. */
function isOwnLocation(uri: string): boolean {
  if (!ngx.req.is_internal()) {
    return false;
  }
  if (settings.internal.get(uri) === undefined) {
    ngx.exit(404);
  }
  return true;
}

/** Binary, because a decoded URI may hold control bytes. */
function setUri(uri: string): void {
  ngx.req.set_uri(uri, false, true);
}

/** The location's hook puts the URI back. After an internal redirect $request_uri is still the client's, so useless. */
function enter(request: RequestState, location: string): void {
  // asked now: set_uri marks the request as internal
  request.raw = request.rewritten !== true && (!ngx.req.is_internal() || ngx.var.get("sluice_first") === "used");
  setUri(location);
}

/** Answered inside the profile's location where there is one: its error pages and response headers apply there. */
function answer(request: RequestState, status: number, location: string | undefined): void {
  const target = location === undefined ? undefined : absolute(location, request.route);
  if (request.route.more?.location === undefined) {
    endRequest(status, target);
  }
  request.exit = status;
  request.exitTo = target;
}

/** True: the request is to be proxied. */
function runRouteSteps(request: RequestState, steps: Steps): boolean {
  const [status, location] = runSteps(steps, request);
  if (status !== undefined) {
    answer(request, status, location);
    return false;
  }
  return true;
}

/** Route's own backend or its canary; undefined when nobody can answer. */
function chooseBackend(primary: Backend): Backend | undefined {
  const answers = primary.peers.count > 0 || primary.builtIn404 === true;
  if (primary.alternatives !== undefined && answers) {
    const alternative = chooseAlternative(primary);
    if (alternative !== undefined) {
      ngx.var.set("proxy_alternative_upstream_name", alternative.name);
      return alternative;
    }
  }
  return answers ? primary : undefined;
}

/** False when the request has its answer. */
function findBackend(request: RequestState, primary: Backend): boolean {
  if (!primary.fresh) {
    refreshBackend(primary);
  }
  const backend = primary.alternatives === undefined && primary.peers.count > 0 ? primary : chooseBackend(primary);
  if (backend === undefined) {
    if (request.fallback !== undefined && standIn(request, request.fallback)) {
      return true;
    }
    answer(request, 503, undefined);
    return false;
  }
  request.backend = backend;
  return true;
}

function answerBuiltIn(request: RequestState): void {
  if (request.backend!.builtIn404 === true) {
    answer(request, 404, undefined);
  }
}

/** False when the request has its answer. May wait for others. */
function mayPass(request: RequestState, more: RouteMore | undefined): boolean {
  const [status, location] = checkAccess(request, more);
  if (status !== undefined) {
    answer(request, status, location);
  }
  return status === undefined;
}

/** Fixed answers and steps; the status of a refusal waits in request.exit for the profile's location. */
function serve(request: RequestState, more: RouteMore): void {
  if (more.status !== undefined) {
    answer(request, more.status, undefined);
    return;
  }
  if (more.early !== undefined && !runRouteSteps(request, more.early)) {
    return;
  }
  if (more.slash !== undefined) {
    answer(request, 301, slashLocation(more.slash));
    return;
  }
  if (!findBackend(request, request.route.backend!)) {
    return;
  }
  if (more.late !== undefined && !runRouteSteps(request, more.late)) {
    return;
  }
  if ((more.access === undefined && generalState.blocked === undefined) || mayPass(request, more)) {
    answerBuiltIn(request);
  }
}

/** This worker runs an older nginx.conf, without the route's profile: 503 and close, the next connection finds a newer one. */
function refuseForeign(more: RouteMore): void {
  logError("profile is not in this worker's nginx.conf", more.location!);
  setUri("/~foreign");
}

function mayBeOurs(uri: string): boolean {
  return string.byte(uri, 2) === tilde || string.byte(uri, 1) !== slash;
}

/** True: the steps come after the location's snippets, in its rewrite phase. */
function prepareSnippets(request: RequestState, more: RouteMore): boolean {
  if (more.own!.variables === true) {
    fillRouteVariables(request.route);
  }
  if (more.own!.uriFirst !== true || more.location === undefined) {
    return false;
  }
  request.later = true;
  if (more.quiet) {
    ngx.var.set("sluice_nolog", "1");
  }
  // the way there empties ngx.ctx
  keepState(request);
  enter(request, more.location);
  return true;
}

function followMore(request: RequestState, more: RouteMore, uri: string): void {
  if (more.foreign) {
    refuseForeign(more);
    return;
  }
  request.uri = uri;
  if (more.own !== undefined && prepareSnippets(request, more)) {
    return;
  }
  serve(request, more);
  const target = request.uri!;
  if (more.location !== undefined) {
    enter(request, more.location);
  } else if (mayBeOurs(target)) {
    enterPlain(request, target);
  } else if (target !== uri) {
    setUri(target);
  }
}

function follow(route: Route, uri: string): void {
  const backend = route.backend;
  if (settings.logUpstream && backend !== undefined) {
    ngx.var.set("proxy_upstream_name", backend.name);
  }
  if (generalState.logVariables) {
    fillRouteVariables(route);
  }
  const request: RequestState = { route, backend: undefined, tries: 0 };
  ngx.ctx = request;
  if (settings.errorPages) {
    keepState(request);
  }
  const more = route.more;
  if (more !== undefined) {
    followMore(request, more, uri);
    return;
  }
  findBackend(request, backend!);
  if (generalState.blocked !== undefined) {
    mayPass(request, undefined);
  }
  answerBuiltIn(request);
  if (string.byte(uri, 2) === tilde) {
    enterPlain(request, uri);
  }
}

/** The default profile, by its own name. */
function enterPlain(request: RequestState, uri: string): void {
  request.uri = uri;
  if (settings.profiles.get("h")?.uriFirst === true) {
    // nothing is left to do but what the snippets there say
    keepState(request);
  }
  enter(request, "/~h");
}

/** The catch-all host's own paths. True: the request has its location. */
function answerOwnPath(uri: string): boolean {
  if (uri === currentGeneral().healthPath) {
    ngx.var.set("sluice_nolog", "1");
    setUri("/~health");
    return true;
  }
  if (uri === "/nginx_status") {
    ngx.var.set("sluice_nolog", "1");
    if (!contains(generalState.status, clientBytes())) {
      ngx.exit(403);
    }
    setUri("/~status");
    return true;
  }
  return false;
}

/** In a server block with locations of its own the default one is entered by name, so that nginx takes none of those. */
function keepFromSnippets(uri: string): void {
  const request = ngx.ctx as RequestState;
  const more = request.route.more;
  if (more === undefined ? string.byte(uri, 2) !== tilde : more.location === undefined && !more.foreign && !mayBeOurs(request.uri!)) {
    enterPlain(request, request.uri ?? uri);
  }
}

/** From "@first": the first time around it is still the client's request. */
function comesBack(): boolean {
  const mark = ngx.var.get("sluice_first");
  if (mark === undefined || mark === "" || !ngx.req.is_internal()) {
    return false;
  }
  ngx.var.set("sluice_first", mark === "raw" ? "used" : "");
  return mark === "raw" || mark === "changed";
}

/** Without metrics the location that the request ends in may have no log hook. */
function endHoldsOfBackend(): void {
  if (settings.metrics === undefined) {
    endHolds();
  } else if (!ngx.is_subrequest) {
    endPassingHolds();
  }
}

/** Nobody whom the host refuses gets to its snippets. */
function mayEnter(more: HostMore | undefined, place: number): boolean {
  if (more === undefined) {
    return true;
  }
  answerDenial(more);
  return more.tls?.client === undefined || admitClient(more.tls.client, place) === undefined;
}

/** The URI to route, another one where an error page takes the request's place; undefined: the request has its location. */
function prepareHost(more: HostMore, uri: string, place: number | undefined): string | undefined {
  answerDenial(more);
  if (more.catchAll && answerOwnPath(uri)) {
    return undefined;
  }
  const page = more.tls?.client === undefined ? undefined : admitClient(more.tls.client, place);
  answerHost(more, uri);
  return page ?? uri;
}

/** `place`: of the server block, where it has text that asks something of us. */
function run(place?: number): void {
  sync();
  let uri: string | undefined = ngx.var.get("uri")!;
  const back = place !== undefined && comesBack();
  if (!back && string.byte(uri, 2) === tilde && isOwnLocation(uri)) {
    return;
  }
  if (generalState.blocksClients && isBlockedClient(generalState.agents, generalState.referers)) {
    ngx.exit(403);
  }
  if (holds.open > 0 && ngx.req.is_internal()) {
    endHoldsOfBackend();
  }
  const host = findHost(ngx.var.get("host")!);
  const more = host.more;
  if (place !== undefined && settings.servers.get(place)?.first === true && !ngx.req.is_internal() && mayEnter(more, place)) {
    ngx.var.set("sluice_first", uri);
    ngx.exec("@first");
  }
  if (more !== undefined) {
    uri = prepareHost(more, uri, place);
    if (uri === undefined) {
      return;
    }
  }
  const route = host.only ?? matchPath(host, uri);
  const taken = place === undefined ? undefined : snippetLocation(place, host, uri, route !== undefined);
  if (taken !== undefined) {
    if (taken && back) {
      ngx.exit(404);
    }
    return;
  }
  if (route === undefined) {
    ngx.exit(404);
    return;
  }
  if (place !== undefined && settings.servers.get(place)?.variables === true) {
    fillRouteVariables(route);
  }
  follow(route, uri);
  if (place !== undefined) {
    keepFromSnippets(uri);
  }
}

export { run, serve };
