/**
 * Peers that refused a connection (or let it time out) a moment ago, as this worker saw it: they are tried last until
 * the time is over. Keyed by address, because one process may serve several backends. Known only where a try followed:
 * with proxy-next-upstream "off" nobody asks Lua again.
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

/** After a failed try; true when no connection came about. */
function noteFailure(key: string): boolean {
  const sent = ngx.var.get("upstream_bytes_sent");
  if (sent === undefined || !neverConnected(sent)) {
    return false;
  }
  markFailing(key);
  return true;
}

function markFailing(key: string): void {
  const now = ngx.now();
  if (health.count >= most) {
    dropExpired(now);
  }
  health.until = now + rest;
  health.count += failing.has(key) ? 0 : 1;
  failing.set(key, health.until);
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
  const known = new LuaTable<string, boolean>();
  for (const i of $range(1, before.count)) {
    known.set(peerKey(before, i), true);
  }
  for (const i of $range(1, peers.count)) {
    const key = peerKey(peers, i);
    if (!known.has(key) && failing.has(key)) {
      failing.delete(key);
      health.count -= 1;
    }
  }
}

function isFailing(peers: Peers, place: number): boolean {
  const now = ngx.now();
  if (now >= health.until) {
    forgive();
    return false;
  }
  const until: number | undefined = failing.get(peerKey(peers, place));
  return until !== undefined && now < until;
}

/** Whether it matters to the request who is failing. Where a refused connection is an answer all peers take their turns. */
function heedsHealth(request: RequestState): boolean {
  return health.until > 0 && (request.route.more?.retriesRefused ?? currentGeneral().retriesRefused) !== false;
}

export { forgive, forgiveNew, health, heedsHealth, isFailing, markFailing, neverConnected, noteFailure };
