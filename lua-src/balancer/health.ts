/**
 * Peers that refused a connection (or let it time out) a moment ago, as this worker saw it: they are tried last until
 * the time is over. Keyed by address, because one process may serve several backends; where TLS is spoken also by upstream
 * block, because there a failed handshake looks the same, and wrong settings of one Ingress say nothing about others.
 * Known only where a try followed: with proxy-next-upstream "off" nobody asks Lua again.
 */
import { currentGeneral } from "../configuration/general";
import type { RequestState } from "../features/feature";
import { type Peers, peerKey } from "./peer-list";

/** Seconds. */
const rest = 5;

/** More than this, and those whose time is over are dropped before the last one's is. */
const most = 256;

const failing = new LuaTable<string, number>();
/** When the last of them is forgiven; 0: there are none, and nobody need look. */
const health = { until: 0, count: 0 };

/**
 * From the bytes sent in each try ("0, 78 : ", the current one still empty): none in the last one, so no connection came
 * about. Connect times are there even for some that were refused.
 */
function neverConnected(sent: string): boolean {
  const [value] = string.match(sent, "([^%s,:]+)[%s,:]*$");
  return value === "0" || value === "-";
}

/** The peer of the last try in a list such as "10.0.0.1:80, 10.0.0.2:80 : ", the current one still empty. */
function lastAsked(addresses: string): string | undefined {
  const [key] = string.match(addresses, "([^%s,]+)[%s,:]*$");
  return key;
}

/** What a peer's failures are kept by. */
function nameOf(key: string, pool: string | undefined): string {
  return pool === undefined ? key : `${pool} ${key}`;
}

/** After a failed try; true when no connection came about. */
function noteFailure(key: string, pool: string | undefined): boolean {
  const sent = ngx.var.get("upstream_bytes_sent");
  if (sent === undefined || !neverConnected(sent)) {
    return false;
  }
  markFailing(nameOf(key, pool));
  return true;
}

function markFailing(name: string): void {
  const now = ngx.now();
  if (health.count >= most) {
    dropExpired(now);
  }
  health.until = now + rest;
  health.count += failing.has(name) ? 0 : 1;
  failing.set(name, health.until);
}

function dropExpired(now: number): void {
  health.count = 0;
  for (const [key, until] of pairs(failing)) {
    if (until <= now) {
      failing.delete(key);
    } else {
      health.count += 1;
    }
  }
}

function forgive(): void {
  for (const [key] of pairs(failing)) {
    failing.delete(key);
  }
  health.until = 0;
  health.count = 0;
}

/** An address that comes anew is another pod, or the same one that is ready again. */
function forgiveNew(before: Peers, peers: Peers): void {
  if (health.until === 0) {
    return;
  }
  const fresh = new LuaTable<string, boolean>();
  for (const i of $range(1, peers.count)) {
    fresh.set(peerKey(peers, i), true);
  }
  for (const i of $range(1, before.count)) {
    fresh.delete(peerKey(before, i));
  }
  for (const [name] of pairs(failing)) {
    const [key] = string.match(name, "%S+$");
    if (fresh.has(key!)) {
      failing.delete(name);
      health.count -= 1;
    }
  }
}

function isFailing(peers: Peers, place: number, request: RequestState): boolean {
  const now = ngx.now();
  if (now >= health.until) {
    forgive();
    return false;
  }
  const until: number | undefined = failing.get(nameOf(peerKey(peers, place), request.pool));
  return until !== undefined && now < until;
}

/** Whether it matters to the request who is failing. Where a refused connection is an answer all peers take their turns. */
function heedsHealth(request: RequestState): boolean {
  return health.until > 0 && (request.route.more?.retriesRefused ?? currentGeneral().retriesRefused) !== false;
}

export { forgive, forgiveNew, health, heedsHealth, isFailing, lastAsked, markFailing, neverConnected, noteFailure };
