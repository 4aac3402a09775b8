/** "off" or "from to": what proxy_redirect, proxy_cookie_domain and proxy_cookie_path take. */

import { type Kind, type Parsed, regexText } from "../catalog/kinds.ts";
import { variableProblem } from "../catalog/nginx-variables.ts";

export type Replacement = { readonly kind: "off" } | { readonly kind: "pair"; readonly from: string; readonly to: string };

const off: Replacement = { kind: "off" };

function readPair(text: string, word: RegExp): Parsed<Replacement> {
  const words = text.trim().split(/\s+/);
  const [from = "", to = ""] = words;
  if (words.length === 1 && from === "off") return { ok: true, value: off };
  if (words.length !== 2) return { ok: false, reason: `"${text.slice(0, 80)}" is neither off nor two words` };
  if (!word.test(from) || !word.test(to)) return { ok: false, reason: `"${text.slice(0, 80)}" holds characters that are not allowed` };
  const problem = expressionProblem(from);
  return problem === undefined ? { ok: true, value: { kind: "pair", from, to } } : { ok: false, reason: problem };
}

/** Why PCRE would refuse "~expression"; undefined also for plain text. */
export function expressionProblem(from: string): string | undefined {
  if (!from.startsWith("~")) return undefined;
  const parsed = regexText.parse(from.replace(/^~\*?/, ""));
  return parsed.ok ? undefined : parsed.reason;
}

function pairOf(label: string, word: RegExp, good: string): Kind<Replacement> {
  return {
    label,
    parse: (text) => readPair(text, word),
    examples: [good, "one two three"],
    print: (value) => pairArgs(value).join(" "),
    schema: { type: "string" },
  };
}

export const cookieDomain = pairOf("off, or two names", /^[A-Za-z0-9\-._~/:]+$/, "localhost example.org");
export const cookiePath = pairOf("off, or two paths", /^[A-Za-z0-9\-._~/:,?&=]+$/, "/one/ /");

/** The administrator's: two words of nginx's own, variables included. */
export const settingPair: Kind<Replacement> = {
  ...pairOf("off, or two words", /^[\x21-\x7e]+$/, "localhost example.org"),
  parse(text) {
    const parsed = readPair(text, /^[\x21-\x7e]+$/);
    if (!parsed.ok || parsed.value.kind === "off") return parsed;
    const problem = replacementProblem(parsed.value.from, parsed.value.to);
    return problem === undefined ? parsed : { ok: false, reason: problem };
  },
};

/** A word for proxy-redirect-from or -to in the ConfigMap. */
export const settingWord: Kind<string> = {
  label: "off, default, or one word",
  parse(text) {
    const word = text.trim();
    if (!/^[\x21-\x7e]+$/.test(word)) return { ok: false, reason: `"${text.slice(0, 80)}" is not one word` };
    const plain = word.startsWith("~") ? "" : word.replace(/\$\d/g, "");
    const problem = expressionProblem(word) ?? variableProblem(plain);
    return problem === undefined ? { ok: true, value: word } : { ok: false, reason: problem };
  },
  examples: ["http://in.example.test/", "a b"],
  schema: { type: "string" },
};

/** Groups of an expression are variables of its replacement. */
function replacementProblem(from: string, to: string): string | undefined {
  const groups = new Set([...from.matchAll(/\(\?P?<([A-Za-z_]\w*)>/g)].map((m) => m[1] ?? ""));
  const own = from.startsWith("~")
    ? to.replace(/\$(\d|[A-Za-z_]\w*)/g, (all, name) => (/^\d$/.test(name) || groups.has(name) ? "" : all))
    : to;
  return variableProblem(own) ?? (from.startsWith("~") ? undefined : variableProblem(from));
}

/** from and to of proxy_redirect → what it does. "default" would be about the name in proxy_pass, which no backend knows. */
export function redirectPair(from: string, to: string): Replacement {
  return from === "off" || from === "default" || to === "off" ? off : { kind: "pair", from, to };
}

/** Arguments of a directive that takes off or two words. */
export function pairArgs(value: Replacement): readonly string[] {
  return value.kind === "off" ? ["off"] : [value.from, value.to];
}
