/** A token bucket with one token: the first goes at once, later ones keep their distance. */

import { setTimeout as pause } from "node:timers/promises";

/** `perSecond` 0 or less: no limit. */
export function rateLimit(perSecond: number): () => Promise<void> {
  let next = 0;
  return async () => {
    if (perSecond <= 0) return;
    const now = Date.now();
    const at = Math.max(now, next);
    next = at + 1000 / perSecond;
    if (at > now) await pause(at - now);
  };
}
