/**
 * auth-snippet and global-auth-snippet. The auth request is no nginx location that could hold any directive; what such
 * snippets are for is read here and done by the data plane. Anything else is refused, never left out.
 */

import type { AuthDecisionDocument } from "../../lua-src/wire.ts";
import { regexText } from "../catalog/kinds.ts";
import { readNginxText, type Statement } from "../catalog/nginx-text.ts";
import { variableProblem } from "../catalog/nginx-variables.ts";
import { requestHeader } from "./auth-kinds.ts";

export interface AuthSnippet {
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly timeouts: { readonly connect?: number; readonly send?: number; readonly read?: number };
  readonly decisions: readonly AuthDecisionDocument[];
}

interface Draft {
  readonly headers: Record<string, string>;
  readonly timeouts: { connect?: number; send?: number; read?: number };
  readonly decisions: AuthDecisionDocument[];
}

const known =
  "only proxy_set_header, proxy_connect_timeout, proxy_send_timeout, proxy_read_timeout, return and an if that holds just a return can be honoured";
const unitsOfTime: Readonly<Record<string, number>> = { ms: 1, "": 1000, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Of nginx's own way to make the request: neither the service nor the client can tell. */
const unseen = new Set("access_log log_subrequest proxy_busy_buffers_size proxy_max_temp_file_size proxy_temp_file_write_size".split(" "));

/** The snippet, or why it cannot be honoured. */
export function parseAuthSnippet(text: string): AuthSnippet | string {
  const read = readNginxText(text);
  if (!read.ok) return read.reason;
  const draft: Draft = { headers: {}, timeouts: {}, decisions: [] };
  for (const statement of read.statements) {
    const problem = take(statement, draft);
    if (problem !== undefined) return problem;
  }
  return draft;
}

function take(statement: Statement, draft: Draft): string | undefined {
  const [name = "", ...args] = statement.words;
  const [first = "", second = ""] = args;
  const kind = /^proxy_(connect|send|read)_timeout$/.exec(name)?.[1] as "connect" | "send" | "read" | undefined;
  if (name === "if") return takeCondition(statement, draft);
  if (statement.block !== undefined) return unknown(statement);
  if (unseen.has(name)) return undefined;
  if (name === "proxy_set_header" && args.length === 2 && requestHeader.parse(first).ok) {
    draft.headers[first] = second;
  } else if (kind !== undefined && args.length === 1 && milliseconds(first) !== undefined) {
    draft.timeouts[kind] = milliseconds(first)!;
  } else if (name === "return" && returnedStatus(statement) !== undefined) {
    draft.decisions.push({ status: returnedStatus(statement)! });
  } else return unknown(statement);
  return undefined;
}

function unknown({ words }: Statement): string {
  return `"${words.join(" ").slice(0, 60)}": ${known}`;
}

function milliseconds(text: string): number | undefined {
  const m = /^(\d{1,7})(ms|[smhd]?)$/.exec(text);
  const value = m === null ? 0 : Number(m[1]) * (unitsOfTime[m[2] ?? ""] ?? 0);
  return value >= 1 && value <= 2 ** 31 - 1 ? value : undefined;
}

/** Nobody sees a text that is returned with it. */
function returnedStatus({ words, block }: Statement): number | undefined {
  const [name, code = ""] = words;
  const fits = name === "return" && block === undefined && words.length <= 3 && /^[2-5]\d\d$/.test(code) && code !== "444";
  return fits ? Number(code) : undefined;
}

function takeCondition(statement: Statement, draft: Draft): string | undefined {
  const inner = statement.block ?? [];
  const status = inner.length === 1 ? returnedStatus(inner[0]!) : undefined;
  const when = conditionOf(statement.words.slice(1));
  if (when === undefined || status === undefined) return unknown(statement);
  const problem = variableProblemHere(when.variable) ?? valueProblem(when);
  if (problem !== undefined) return `"${statement.words.join(" ").slice(0, 60)}": ${problem}`;
  draft.decisions.push({ when, status });
  return undefined;
}

type When = NonNullable<AuthDecisionDocument["when"]>;

const operators: ReadonlySet<string> = new Set(["=", "!=", "~", "~*", "!~", "!~*"]);

/** The words between "if" and its block: "($a", "=", "b)", the brackets also as words of their own. */
function conditionOf(words: readonly string[]): When | undefined {
  const [first = "", ...rest] = words;
  const last = rest.at(-1) ?? first;
  if (!first.startsWith("(") || !last.endsWith(")")) return undefined;
  const all = words.length === 1 ? [first.slice(1, -1)] : [first.slice(1), ...rest.slice(0, -1), last.slice(0, -1)];
  const bare = all.filter((word, index) => word !== "" || (index > 0 && index < all.length - 1));
  const [variable = "", op = "", value] = bare;
  const name = /^\$([A-Za-z0-9_]+)$/.exec(variable)?.[1]?.toLowerCase();
  if (name === undefined) return undefined;
  if (bare.length === 1) return { variable: name, op: "set", value: "" };
  return bare.length === 3 && operators.has(op) ? { variable: name, op: op as When["op"], value: value ?? "" } : undefined;
}

/** In nginx's auth location these are not the request's. */
const ofTheLocation = /^(uri|document_uri|args|query_string|is_args|arg_.*)$/;

function variableProblemHere(name: string): string | undefined {
  if (ofTheLocation.test(name)) return `$${name} is not the client's where the auth request is made: use $request_uri`;
  return variableProblem(`$${name}`);
}

function valueProblem({ op, value }: When): string | undefined {
  if (op === "=" || op === "!=") {
    const named = [...value.matchAll(/\$\{?([A-Za-z0-9_]+)/g)].map((m) => (m[1] ?? "").toLowerCase());
    return named.map(variableProblemHere).find((p) => p !== undefined) ?? variableProblem(value);
  }
  const parsed = regexText.parse(value);
  return parsed.ok ? undefined : parsed.reason;
}
