/** Text of a flag → value, by the grammar of Go's strconv, time.ParseDuration and pflag's lists. */

import type { FlagType, FlagTypes } from "./flag-rows.ts";

export type ParsedValue = { readonly value: FlagTypes[FlagType] } | { readonly error: string };

const truths = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const lies = new Set(["0", "f", "F", "FALSE", "false", "False"]);

/** The error is a half-sentence about the text. */
export function parseValue(type: FlagType, text: string): ParsedValue {
  switch (type) {
    case "bool":
      if (truths.has(text)) return { value: true };
      return lies.has(text) ? { value: false } : { error: "not true or false" };
    case "int":
      return numberOr(parseInteger(text), "not a whole number");
    case "float":
      return numberOr(parseFloating(text), "not a number");
    case "duration":
      return numberOr(parseDuration(text), "not a duration such as 30s or 1m30s");
    case "strings":
      return { value: text === "" ? [] : text.split(",").map((part) => part.trim()) };
    case "floats": {
      const numbers = text.split(",").map((part) => parseFloating(part.trim()));
      return numbers.some((number) => number === undefined) ? { error: "not a comma list of numbers" } : { value: numbers as number[] };
    }
    default:
      return { value: text };
  }
}

function numberOr(value: number | undefined, error: string): ParsedValue {
  return value === undefined ? { error } : { value };
}

function parseInteger(text: string): number | undefined {
  const match = /^([+-]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|[1-9][0-9]*|0)$/.exec(text);
  if (match === null) return undefined;
  const digits = match[2]!;
  const octal = /^0[0-7]+$/.test(digits);
  const value = Number(octal ? `0o${digits.slice(1)}` : digits);
  if (!Number.isSafeInteger(value)) return undefined;
  return match[1] === "-" ? -value : value;
}

function parseFloating(text: string): number | undefined {
  if (!/^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

const units: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Go duration → milliseconds; "0" needs no unit. */
export function parseDuration(text: string): number | undefined {
  const match = /^([+-]?)(?:(0)|((?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+))$/.exec(text);
  if (match === null) return undefined;
  if (match[2] !== undefined) return 0;
  let sum = 0;
  for (const part of match[3]!.matchAll(/([0-9.]+)(ns|us|µs|μs|ms|s|m|h)/g)) sum += Number(part[1]) * units[part[2]!]!;
  return match[1] === "-" ? -sum : sum;
}
