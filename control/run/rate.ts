/** A token bucket with one token: the first goes at once, later ones keep their distance. */

export interface RateLimit {
  /** Milliseconds until the next one may go. */
  wait(): number;
  /** One goes. */
  take(): void;
}

/** `perSecond` 0 or less: no limit. */
export function rateLimit(perSecond: number, now: () => number = () => performance.now()): RateLimit {
  let next = Number.NEGATIVE_INFINITY;
  return {
    wait: () => Math.max(0, Math.ceil(next - now())),
    take: () => {
      if (perSecond > 0) next = now() + 1000 / perSecond;
    },
  };
}
