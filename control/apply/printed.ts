/** Text of nginx.conf as the templates take it. */

import type { Printed } from "../plan/directive.ts";

export type Lines = readonly { readonly line: Printed }[];

export function printed(text: string): Printed {
  return { printed: text };
}

export function lines(texts: readonly string[]): Lines {
  return texts.map((text) => ({ line: printed(text) }));
}

/** A word that becomes part of a name in nginx.conf. */
export function word(text: string): Printed {
  if (!/^[A-Za-z0-9_]+$/.test(text)) {
    throw new Error(`not a plain word: ${JSON.stringify(text)}`);
  }
  return printed(text);
}
