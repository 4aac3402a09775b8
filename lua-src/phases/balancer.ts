/** balancer_by_lua: names the peer of each try. */
import { get_last_failure, set_current_peer, set_more_tries, set_timeouts } from "ngx.balancer";
import { lastAsked, noteFailure } from "../balancer/health";
import { peerKey } from "../balancer/peer-list";
import { logError } from "../base/log";
import { currentGeneral } from "../configuration/general";
import type { RequestState } from "../features/feature";
import type { RouteMore } from "../router/route";

function triesOf(request: RequestState): number {
  return request.route.more?.tries ?? currentGeneral().tries;
}

/** tries 0 means as many as there are peers, as nginx has it for its own upstreams. */
function allowTries(request: RequestState, count: number): void {
  const tries = triesOf(request);
  const more = (tries === 0 ? count : tries) - 1;
  if (more > 0) {
    set_more_tries(more);
  }
}

function applyTimeouts({ timeouts }: RouteMore): void {
  if (timeouts !== undefined) {
    set_timeouts(timeouts.connect, timeouts.send, timeouts.read);
  }
}

/**
 * A refused connection took no time and nobody saw the request: as long as there are other peers it is none of the tries.
 * It may have been a TLS handshake, which costs both sides, so there are at most as many of these as of the others.
 */
function forgetTry(request: RequestState, count: number): void {
  const tries = triesOf(request);
  const most = request.pool === undefined ? count : math.min(count, 2 * tries);
  if (tries > 0 && tries + request.tries <= most) {
    const [, status] = get_last_failure();
    if (status === 502) {
      set_more_tries(1);
    }
  }
}

/** After a failed try, by nginx's own word for the peer: the backend may have others by now. True when no connection came about. */
function rememberPeer(request: RequestState): boolean {
  let tried = request.tried;
  if (tried === undefined) {
    tried = new LuaTable();
    request.tried = tried;
  }
  const key = lastAsked(ngx.var.get("upstream_addr") ?? "");
  if (key === undefined) {
    return false;
  }
  tried.set(key, true);
  return noteFailure(key, request.pool);
}

/** `pool`: name of the upstream block, where it speaks TLS. */
function run(pool?: string): void {
  const request = ngx.ctx as RequestState;
  const backend = request.backend;
  if (backend === undefined) {
    logError("no backend chosen for", ngx.var.get("uri") ?? "");
    ngx.exit(500);
    return;
  }
  const peers = backend.peers;
  if (peers.count === 0) {
    // they went away between routing and now
    ngx.exit(503);
    return;
  }
  let refused = false;
  if (request.tries > 0) {
    refused = rememberPeer(request);
    backend.balancer.failed?.(request);
  } else {
    if (request.pool !== pool) {
      request.pool = pool;
    }
    allowTries(request, peers.count);
  }
  const place = backend.balancer.pick(peers, request);
  // a session, or a subset, may lead to the same one again
  if (refused && request.tried!.get(peerKey(peers, place)) === undefined) {
    forgetTry(request, peers.count);
  }
  request.tries += 1;
  const more = request.route.more;
  if (more !== undefined) {
    applyTimeouts(more);
  }
  const [ok, problem] = set_current_peer(peers.addresses.get(place)!, peers.ports.get(place)!);
  if (ok !== true) {
    logError("peer refused", `${peerKey(peers, place)}: ${problem}`);
    ngx.exit(502);
  }
}

export { run };
