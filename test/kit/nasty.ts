/** Values that somebody might try, from a seed: the same seed gives the same values. */

/** Numbers in [0, 1). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** In every attempt to bring in syntax, so that a name that holds it has been injected. */
export const injected = "zq_injected";

const bits = [
  '"',
  "'",
  "\\",
  ";",
  "{",
  "}",
  "#",
  "\r",
  "\n",
  "\0",
  "\t",
  " ",
  "$",
  "$(",
  "`",
  "${",
  "${{",
  "\\$",
  ",",
  ":",
  "|",
  "~",
  "^",
  "(",
  "[",
  "%",
  "%0a",
  "\u00a0",
  "\u2028",
  "\ufeff",
  "\ud800",
  "é",
  "../",
  "-1",
  "99999999999999999999",
  `; ${injected} on;`,
  `\n${injected} on;\n`,
  `\r${injected} on;`,
  `"; ${injected} on; #`,
  `'; ${injected} on; #`,
  `} ${injected} on; {`,
  `"} ${injected} { x "`,
  `\\"; ${injected} on;`,
  `]]; ${injected}() --[[`,
  `" .. ${injected}() .. "`,
];

function pick<T>(random: () => number, of: readonly T[]): T {
  return of[Math.floor(random() * of.length)] as T;
}

/** The example with something put into it, or nothing but such things; now and then very long. */
export function nastyText(random: () => number, example: string): string {
  const count = 1 + Math.floor(random() * 3);
  let text = random() < 0.75 ? example : "";
  for (let i = 0; i < count; i++) {
    const at = Math.floor(random() * (text.length + 1));
    text = text.slice(0, at) + pick(random, bits) + text.slice(at);
  }
  return random() < 0.02 ? text.repeat(Math.ceil(65_536 / Math.max(1, text.length))) : text;
}

const odd: readonly unknown[] = [
  null,
  0,
  -1,
  1e308,
  true,
  "",
  "x",
  [],
  {},
  [[]],
  [null],
  { a: 1 },
  JSON.parse('{"__proto__":{"polluted":true}}'),
];

/** A copy of a JSON value in which one field, anywhere, is something else, twice, or gone. */
export function nastyJson(random: () => number, value: unknown): unknown {
  if (typeof value !== "object" || value === null || random() < 0.15) return pick(random, odd);
  if (Array.isArray(value)) {
    const copy: unknown[] = [...value];
    const at = Math.floor(random() * (copy.length + 1));
    copy[at] = nastyJson(random, copy[at]);
    return copy;
  }
  const keys = Object.keys(value);
  const key = pick(random, keys.length === 0 ? ["x"] : keys);
  const { [key]: old, ...rest } = value as Record<string, unknown>;
  if (random() < 0.1) return rest;
  return { ...rest, [random() < 0.05 ? nastyText(random, key) : key]: nastyJson(random, old) };
}
