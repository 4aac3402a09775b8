/** What nginx.conf is made of besides profiles. Its parts are compared by identity: equal input must be the same object. */

import type { Settings } from "../catalog/settings.ts";

export interface ConfBasis {
  readonly settings: Settings;
  /** proxy-set-headers. */
  readonly requestHeaders: readonly GlobalHeader[];
  /** add-headers. */
  readonly responseHeaders: readonly GlobalHeader[];
}

export interface GlobalHeader {
  readonly name: string;
  /** May name nginx variables. */
  readonly value: string;
}

export function isSameBasis(a: ConfBasis, b: ConfBasis): boolean {
  return a.settings === b.settings && a.requestHeaders === b.requestHeaders && a.responseHeaders === b.responseHeaders;
}
