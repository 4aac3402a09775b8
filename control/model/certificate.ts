/** A certificate with its key. */

import type { ObjectRef } from "./ids.ts";

/** A text that must not be printed: shows as [redacted] wherever it is turned into text or JSON. */
export class Private {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  /** Only documents (plan/) and files for nginx (apply/) call this. */
  reveal(): string {
    return this.#text;
  }
  toString(): string {
    return "[redacted]";
  }
  toJSON(): string {
    return "[redacted]";
  }
}

export interface Certificate {
  /** The Secret's uid, or all zeros for the generated one. */
  readonly id: string;
  /** PEM chain, leaf first. */
  readonly chain: string;
  readonly key: Private;
  /** DNS names of the leaf; the common name when there is none. Lower case. */
  readonly names: readonly string[];
  readonly commonName: string;
  /** Milliseconds since 1970. */
  readonly notAfter: number;
  /** The Secret; absent for the generated one. */
  readonly source?: ObjectRef;
}
