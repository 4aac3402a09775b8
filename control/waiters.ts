/** Those who wait until something has become true. */

export class Waiters {
  readonly #waiting = new Set<() => void>();

  /** Something changed: they look again. */
  tell(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Resolves with true when `done`, with false after `timeout` milliseconds or when `stopped`. */
  async until(done: () => boolean, timeout: number, stopped: () => boolean): Promise<boolean> {
    const until = Date.now() + timeout;
    while (!done()) {
      const left = until - Date.now();
      if (left <= 0 || stopped()) return false;
      await this.#told(left);
    }
    return true;
  }

  async #told(timeout: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(finish, timeout);
      const waiting = this.#waiting;
      function finish(): void {
        clearTimeout(timer);
        waiting.delete(finish);
        resolve();
      }
      waiting.add(finish);
    });
  }
}
