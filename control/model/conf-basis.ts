/** What nginx.conf is made of besides profiles. Its parts but the streams are compared by identity: equal input must be the same object. */

import { isDeepStrictEqual } from "node:util";
import type { Settings } from "../catalog/settings.ts";
import type { StreamParts } from "./stream.ts";

export interface ConfBasis {
  readonly settings: Settings;
  /** proxy-set-headers. */
  readonly requestHeaders: readonly GlobalHeader[];
  /** add-headers. */
  readonly responseHeaders: readonly GlobalHeader[];
  readonly streams: StreamParts;
}

export interface GlobalHeader {
  readonly name: string;
  /** May name nginx variables. */
  readonly value: string;
}

export function isSameBasis(a: ConfBasis, b: ConfBasis): boolean {
  const same = a.settings === b.settings && a.requestHeaders === b.requestHeaders && a.responseHeaders === b.responseHeaders;
  return same && isDeepStrictEqual(a.streams, b.streams);
}
