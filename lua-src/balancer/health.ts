/**
 * Peers that refused a connection (or let it time out) a moment ago, as this worker saw it: they are tried last until
 * the time is over. Keyed by address, because one process may serve several backends. Known only where a try followed:
 * with proxy-next-upstream "off" nobody asks Lua again.
 */
import { type Peers, peerKey } from "./peer-list";

/** Seconds. */
const rest = 5;

const failing = new LuaTable<string, number>();
/** When the last of them is forgiven; 0: there are none, and nobody need look. */
const health = { until: 0 };

/** Connect time of the try before the current one: "-" when no connection came about. */
function neverConnected(times: string): boolean {
  const [value] = string.match(times, "([^%s,:]+)[%s,:]+[^%s,:]+$");
  return value === "-";
}

/** After a failed try. */
function noteFailure(key: string): void {
  const times = ngx.var.get("upstream_connect_time");
  if (times !== undefined && neverConnected(times)) {
    health.until = ngx.now() + rest;
    failing.set(key, health.until);
  }
}

function forgive(): void {
  for (const [key] of pairs(failing)) {
    failing.delete(key);
  }
  health.until = 0;
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

export { forgive, health, isFailing, neverConnected, noteFailure };
