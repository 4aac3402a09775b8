/** Tests that wait for a state: asked again whenever something has happened, not after a time. */

export class Waiting {
  readonly #checks = new Set<() => void>();

  /** Resolves once the condition holds. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!condition()) return;
        this.#checks.delete(check);
        resolve();
      };
      this.#checks.add(check);
      check();
    });
  }

  /** Something has happened. */
  wake(): void {
    for (const check of [...this.#checks]) check();
  }
}
