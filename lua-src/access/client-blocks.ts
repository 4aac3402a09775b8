/** block-user-agents and block-referers: patterns as nginx's map has them (plain text in any case, "~" and "~*" expressions). */
import { logError } from "../base/log";

export interface Patterns {
  readonly exact: LuaTable<string, true | undefined>;
  /** Expression and options in turn, from 1. */
  readonly expressions: LuaTable<number, string>;
  readonly count: number;
}

function preparePatterns(list: readonly string[] | undefined): Patterns | undefined {
  if (list === undefined) {
    return undefined;
  }
  const exact = new LuaTable<string, true | undefined>();
  const expressions = new LuaTable<number, string>();
  let count = 0;
  for (const item of list) {
    if (string.sub(item, 1, 1) !== "~") {
      exact.set(string.lower(item), true);
      continue;
    }
    const fold = string.sub(item, 2, 2) === "*";
    const expression = string.sub(item, fold ? 3 : 2);
    const [, , problem] = ngx.re.find("", expression, "");
    if (problem !== undefined) {
      logError("expression refused, it blocks nobody", `${expression}: ${problem}`);
      continue;
    }
    expressions.set(count + 1, expression);
    expressions.set(count + 2, fold ? "ijo" : "jo");
    count += 2;
  }
  return { exact, expressions, count };
}

function matches({ exact, expressions, count }: Patterns, value: string): boolean {
  if (exact.get(string.lower(value)) !== undefined) {
    return true;
  }
  for (const i of $range(1, count, 2)) {
    const [from] = ngx.re.find(value, expressions.get(i), expressions.get(i + 1));
    if (from !== undefined) {
      return true;
    }
  }
  return false;
}

function isBlockedClient(agents: Patterns | undefined, referers: Patterns | undefined): boolean {
  if (agents !== undefined && matches(agents, ngx.var.get("http_user_agent") ?? "")) {
    return true;
  }
  return referers !== undefined && matches(referers, ngx.var.get("http_referer") ?? "");
}

export { isBlockedClient, preparePatterns };
