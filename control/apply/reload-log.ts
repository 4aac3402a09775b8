/** What became of the reloads. */

export interface ReloadCounts {
  readonly reloads: number;
  /** Newest last, bounded. */
  readonly reloadReasons: readonly { readonly at: string; readonly reason: string; readonly ok: boolean }[];
  /** Also when what the last one failed for is no longer wanted. */
  readonly lastReloadOk: boolean;
  readonly failedReloads: number;
  /** Milliseconds since 1970 of the last successful start or reload; 0 before the first. */
  readonly lastSuccess: number;
}

export class ReloadLog {
  readonly #onReload: ((problem: string | undefined) => void) | undefined;
  #counts: ReloadCounts = { reloads: 0, reloadReasons: [], lastReloadOk: true, failedReloads: 0, lastSuccess: 0 };

  /** Told after each reload that was wanted, with what went wrong. */
  constructor(onReload: ((problem: string | undefined) => void) | undefined) {
    this.#onReload = onReload;
  }

  counts(): ReloadCounts {
    return this.#counts;
  }

  started(): void {
    this.#counts = { ...this.#counts, lastSuccess: Date.now() };
  }

  /** What runs is all that is wanted: a failure before that is history, and nothing needs a reload that would say so. */
  settled(): void {
    if (!this.#counts.lastReloadOk) this.#counts = { ...this.#counts, lastReloadOk: true };
  }

  record(reason: string, ok: boolean, problem = "nginx refuses the configuration"): void {
    this.#onReload?.(ok ? undefined : problem);
    const { reloads, failedReloads, lastSuccess, reloadReasons } = this.#counts;
    this.#counts = {
      reloads: reloads + (ok ? 1 : 0),
      failedReloads: failedReloads + (ok ? 0 : 1),
      lastSuccess: ok ? Date.now() : lastSuccess,
      lastReloadOk: ok,
      reloadReasons: [...reloadReasons, { at: new Date().toISOString(), reason, ok }].slice(-50),
    };
  }
}
