/** What the webhook did, for metrics. */

/** What of a verdict is counted. */
export interface CheckedReview {
  readonly namespace: string;
  readonly name: string;
  readonly refused: boolean;
  readonly counted: boolean;
  readonly tested: number;
}

export interface CheckedIngress {
  readonly namespace: string;
  readonly name: string;
  readonly admitted: number;
  readonly refused: number;
}

/** Ingresses that are remembered; who only asks and never stores must not fill the memory. */
const limit = 20_000;

export class AdmissionCounts {
  readonly #ingresses = new Map<string, CheckedIngress>();
  /** Of the last check: Ingresses built, and seconds. */
  last: { readonly tested: number; readonly seconds: number } | undefined;

  add(review: CheckedReview, seconds: number): void {
    this.last = { tested: review.tested, seconds };
    if (!review.counted) return;
    const { namespace, name, refused } = review;
    const key = `${namespace}/${name}`;
    const known = this.#ingresses.get(key) ?? { namespace, name, admitted: 0, refused: 0 };
    if (!this.#ingresses.has(key) && this.#ingresses.size >= limit) return;
    this.#ingresses.set(key, {
      ...known,
      admitted: known.admitted + (refused ? 0 : 1),
      refused: known.refused + (refused ? 1 : 0),
    });
  }

  /** The Ingress is gone. */
  forget(namespace: string, name: string): void {
    this.#ingresses.delete(`${namespace}/${name}`);
  }

  all(): Iterable<CheckedIngress> {
    return this.#ingresses.values();
  }
}
