/**
 * auth-snippet and global-auth-snippet. The auth request is no nginx location that could hold any directive; what such
 * snippets are mostly for is read here and done by the data plane. Anything else is refused, never left out.
 */

import { requestHeader } from "./auth-kinds.ts";

export interface AuthSnippet {
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly timeouts: { readonly connect?: number; readonly send?: number; readonly read?: number };
}

const known = "only proxy_set_header, proxy_connect_timeout, proxy_send_timeout and proxy_read_timeout can be honoured";
const unitsOfTime: Readonly<Record<string, number>> = { ms: 1, "": 1000, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The snippet, or why it cannot be honoured. */
export function parseAuthSnippet(text: string): AuthSnippet | string {
  const statements = statementsOf(text);
  if (typeof statements === "string") return statements;
  const headers: Record<string, string> = {};
  const timeouts: { connect?: number; send?: number; read?: number } = {};
  for (const [name = "", ...args] of statements) {
    const kind = /^proxy_(connect|send|read)_timeout$/.exec(name)?.[1] as "connect" | "send" | "read" | undefined;
    if (name === "proxy_set_header" && args.length === 2 && requestHeader.parse(args[0] ?? "").ok) headers[args[0] ?? ""] = args[1] ?? "";
    else if (kind !== undefined && args.length === 1 && milliseconds(args[0] ?? "") !== undefined)
      timeouts[kind] = milliseconds(args[0] ?? "")!;
    else return `"${[name, ...args].join(" ").slice(0, 60)}": ${known}`;
  }
  return { headers, timeouts };
}

function milliseconds(text: string): number | undefined {
  const m = /^(\d{1,7})(ms|[smhd]?)$/.exec(text);
  const value = m === null ? 0 : Number(m[1]) * (unitsOfTime[m[2] ?? ""] ?? 0);
  return value >= 1 && value <= 2 ** 31 - 1 ? value : undefined;
}

/** Words of each statement, in nginx's quoting; text when it is none of its syntax. */
function statementsOf(text: string): readonly (readonly string[])[] | string {
  const out: string[][] = [];
  let words: string[] = [];
  const token = /\s+|#[^\n]*|(;)|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|((?:\$\{\w+\}|[^\s;{}"'#\\]|\\.)(?:\$\{\w+\}|[^\s;{}\\]|\\.)*)/gsy;
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const m = token.exec(text);
    if (m === null) return `it cannot be read from "${text.slice(at, at + 20)}" on`;
    const word = m[2] ?? m[3] ?? m[4];
    if (m[1] !== undefined) {
      if (words.length > 0) out.push(words);
      words = [];
    } else if (word !== undefined) words.push(plain(word));
  }
  return words.length === 0 ? out : `"${words.join(" ").slice(0, 60)}" lacks its semicolon`;
}

function plain(word: string): string {
  return word.replace(/\\(["'\\ ])/g, "$1");
}
