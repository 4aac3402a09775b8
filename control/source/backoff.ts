/** How long to wait before the next attempt at something that is meant to last. */

export interface BackoffLimits {
  readonly minMs: number;
  readonly maxMs: number;
  /** An attempt that lasted so long was a good one: the next follows at once. */
  readonly healthyMs: number;
}

export const defaultBackoff: BackoffLimits = { minMs: 800, maxMs: 30_000, healthyMs: 10_000 };

/** A quick clean end counts as a failure, too: a server that closes each watch at once must not be asked thousands of times. */
export class Backoff {
  readonly #limits: BackoffLimits;
  readonly #random: () => number;
  #last = 0;

  constructor(limits: BackoffLimits = defaultBackoff, random: () => number = Math.random) {
    this.#limits = limits;
    this.#random = random;
  }

  /** Milliseconds to wait after an attempt that lasted lastedMs and was told to wait retryAfterMs (0: not told). */
  next(lastedMs: number, retryAfterMs: number): number {
    const { minMs, maxMs, healthyMs } = this.#limits;
    if (lastedMs >= healthyMs && retryAfterMs === 0) {
      this.#last = 0;
      return 0;
    }
    if (lastedMs >= healthyMs) this.#last = 0;
    this.#last = Math.min(maxMs, Math.max(minMs, this.#last * 2));
    return Math.max(this.#last, retryAfterMs) * (1 + this.#random() * 0.5);
  }
}
