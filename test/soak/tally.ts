/** What the clients of the soak count: requests that were answered as they should, and what went wrong with the others. */

export interface Tally {
  readonly answered: number;
  /** What was wrong and how often. */
  readonly failures: Readonly<Record<string, number>>;
}

export interface Client {
  readonly name: string;
  /** How many run at the same time. */
  readonly loops: number;
  /** Sends one request after the other until it is over; `offset` is the number of the loop. */
  readonly run: (offset: number, isOver: () => boolean, counter: Counter) => Promise<void>;
}

export class Counter {
  #answered = 0;
  readonly #failures: Record<string, number> = {};

  /** `problem` undefined: all was well. */
  add(problem: string | undefined): void {
    if (problem === undefined) this.#answered += 1;
    else this.#failures[problem] = (this.#failures[problem] ?? 0) + 1;
  }

  get tally(): Tally {
    return { answered: this.#answered, failures: this.#failures };
  }
}

export function errorText(error: Error & { readonly code?: string }): string {
  return error.code ?? error.message;
}
