/**
 * server_rewrite_by_lua: finds host, route and backend before nginx picks a location, and points the request at the
 * location of its route's profile. The plain case leaves the URI alone, so nginx takes `location /`.
 */
import { chooseAlternative } from "../balancer/choose";
import { type Backend, refreshBackend } from "../balancer/peers";
import { contains, type Network, parseNetwork } from "../base/address";
import { logError } from "../base/log";
import { currentGeneral, generalState } from "../configuration/general";
import { settings } from "../configuration/settings";
import { sync } from "../configuration/sync";
import type { RequestState } from "../features/feature";
import { runSteps } from "../features/order";
import { findHost } from "../router/host";
import { matchPath } from "../router/path";
import type { Host, Route } from "../router/route";
import { absolute, answerHost, answerSlash, redirectTo } from "./answers";

const tilde = string.byte("~");

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
  request.raw = !request.rewritten && !ngx.req.is_internal();
  setUri(location);
}

/** Errors are answered inside the profile's location where there is one: its error pages apply there. */
function answer(request: RequestState, status: number, location: string | undefined): void {
  if (location !== undefined) {
    redirectTo(absolute(location, request.route), status);
  }
  const route = request.route;
  if (route.location === undefined) {
    ngx.exit(status);
  }
  request.exit = status;
}

function runEarly(request: RequestState, route: Route): boolean {
  const [status, location] = runSteps(route.early!, request);
  if (status !== undefined) {
    answer(request, status, location);
    return false;
  }
  return true;
}

function runLate(request: RequestState, route: Route): void {
  const [status, location] = runSteps(route.late!, request);
  if (status !== undefined) {
    answer(request, status, location);
  }
}

/** Route's own backend or its canary; undefined when nobody can answer. */
function chooseBackend(primary: Backend): Backend | undefined {
  if (primary.alternatives !== undefined && (primary.peers.count > 0 || primary.builtIn404)) {
    const alternative = chooseAlternative(primary.alternatives);
    if (alternative !== undefined) {
      ngx.var.set("proxy_alternative_upstream_name", alternative.name);
      return alternative;
    }
  }
  return primary.peers.count > 0 || primary.builtIn404 ? primary : undefined;
}

function fillLogVariables(route: Route): void {
  const source = route.source;
  ngx.var.set("namespace", source.namespace);
  ngx.var.set("ingress_name", source.ingress);
  ngx.var.set("service_name", source.service);
  ngx.var.set("service_port", source.port);
  ngx.var.set("location_path", source.path);
}

function serve(request: RequestState, route: Route): void {
  if (route.early !== undefined && !runEarly(request, route)) {
    return;
  }
  const primary = route.backend!;
  if (!primary.fresh) {
    refreshBackend(primary);
  }
  const backend = chooseBackend(primary);
  if (backend === undefined) {
    answer(request, 503, undefined);
    return;
  }
  request.backend = backend;
  if (route.late !== undefined) {
    runLate(request, route);
  }
  if (backend.builtIn404 && request.exit === undefined) {
    answer(request, 404, undefined);
  }
}

/** This worker runs an older nginx.conf, without the route's profile: 503 and close, the next connection finds a newer one. */
function refuseForeign(route: Route): void {
  logError("profile is not in this worker's nginx.conf", route.location!);
  setUri("/~foreign");
}

function enterLocation(request: RequestState, route: Route, asked: string): void {
  if (route.location !== undefined) {
    enter(request, route.location);
    return;
  }
  const uri = request.uri;
  if (string.byte(uri, 2) === tilde || string.byte(uri, 1) !== 47) {
    enter(request, "/~h");
  } else if (uri !== asked) {
    setUri(uri);
  }
}

function follow(route: Route, uri: string): void {
  if (settings.logUpstream && route.backend !== undefined) {
    ngx.var.set("proxy_upstream_name", route.backend.name);
  }
  if (generalState.logVariables) {
    fillLogVariables(route);
  }
  if (route.foreign) {
    refuseForeign(route);
    return;
  }
  const request: RequestState = {
    route,
    backend: undefined,
    tries: 0,
    peer: undefined,
    tried: undefined,
    uri,
    rewritten: false,
    raw: false,
    exit: undefined,
  };
  ngx.ctx = request;
  if (route.status !== undefined) {
    answer(request, route.status, undefined);
  } else if (route.slash !== undefined) {
    answerSlash(route.slash, route);
  } else {
    serve(request, route);
  }
  enterLocation(request, route, uri);
}

const statusNetworks: { of: readonly string[] | undefined; list: Network[] } = { of: undefined, list: [] };

function mayReadStatus(): boolean {
  const allowed = currentGeneral().statusAllow;
  if (statusNetworks.of !== allowed) {
    statusNetworks.of = allowed;
    statusNetworks.list = [];
    for (const text of allowed) {
      const network = parseNetwork(text);
      if (network !== undefined) {
        statusNetworks.list[statusNetworks.list.length] = network;
      }
    }
  }
  const bytes = ngx.var.get("binary_remote_addr")!;
  for (const network of statusNetworks.list) {
    if (contains(network, bytes)) {
      return true;
    }
  }
  return false;
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
    if (!mayReadStatus()) {
      ngx.exit(403);
    }
    setUri("/~status");
    return true;
  }
  return false;
}

function prepareHost(host: Host, uri: string): boolean {
  answerHost(host, uri);
  return host.document.name === "" && answerOwnPath(uri);
}

function run(): void {
  sync();
  const uri = ngx.var.get("uri")!;
  if (string.byte(uri, 2) === tilde && isOwnLocation(uri)) {
    return;
  }
  const host = findHost(ngx.var.get("host")!);
  if (host.special && prepareHost(host, uri)) {
    return;
  }
  const route = host.only ?? matchPath(host, uri);
  if (route === undefined) {
    ngx.exit(404);
  } else {
    follow(route, uri);
  }
}

export { run };
