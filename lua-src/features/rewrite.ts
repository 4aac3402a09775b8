/** rewrite-target: the URI becomes `target` where `from` matches; X-Forwarded-Prefix comes with it. */
import { object, text } from "../configuration/check";
import type { RewriteDocument } from "../wire";
import type { Feature, RequestState } from "./feature";

/** A text with $1…$9: plain text at odd places, group numbers at even ones. */
interface GroupText {
  readonly parts: LuaTable<number, string | number>;
  readonly count: number;
}

interface Rewrite {
  readonly from: string;
  readonly target: GroupText;
  readonly forwardedPrefix: GroupText | undefined;
  /** The target is a URL: the client is sent there, as nginx does with such a target. */
  readonly redirects: boolean;
}

function parseGroups(source: string): GroupText {
  const parts = new LuaTable<number, string | number>();
  let [count, at] = [0, 1];
  while (true) {
    const [from, to, digit] = string.find(source, "%$([1-9])", at);
    if (from === undefined || to === undefined) {
      break;
    }
    parts.set(count + 1, string.sub(source, at, from - 1));
    parts.set(count + 2, tonumber(digit)!);
    count += 2;
    at = to + 1;
  }
  parts.set(count + 1, string.sub(source, at));
  return { parts, count: count + 1 };
}

function fillGroups(template: GroupText, groups: LuaTable<number, string | false>): string {
  const { parts, count } = template;
  if (count === 1) {
    return parts.get(1) as string;
  }
  const out = new LuaTable<number, string>();
  for (const i of $range(1, count)) {
    const part = parts.get(i)!;
    const group = i % 2 === 0 ? groups.get(part as number) : (part as string);
    out.set(i, group === undefined || group === false ? "" : group);
  }
  return table.concat(out as unknown as string[]);
}

function escapeByte(char: string): string {
  return string.format("%%%02X", string.byte(char));
}

/** Groups of a URI that came escaped are escaped again. */
function escapeGroups(groups: LuaTable<number, string | false>): void {
  const [escaped] = string.find(ngx.var.get("request_uri")!, "[%%+]");
  if (escaped === undefined) {
    return;
  }
  for (const i of $range(1, 9)) {
    const group = groups.get(i);
    if (group !== undefined && group !== false) {
      const [text] = string.gsub(group, '[%z\x01-\x20\x7f-\xff"#%%&+?]', escapeByte);
      groups.set(i, text);
    }
  }
}

function redirectTarget(config: Rewrite, groups: LuaTable<number, string | false>): string {
  escapeGroups(groups);
  const target = fillGroups(config.target, groups);
  const query = ngx.var.get("args");
  if (query === undefined || query === "") {
    return target;
  }
  const [asked] = string.find(target, "?", 1, true);
  return target + (asked === undefined ? "?" : "&") + query;
}

function early(config: Rewrite, request: RequestState): LuaMultiReturn<[number?, string?]> {
  const [groups] = ngx.re.match(request.uri!, config.from, "ijo");
  if (groups !== undefined) {
    if (config.redirects) {
      return $multi(302, redirectTarget(config, groups));
    }
    const uri = fillGroups(config.target, groups);
    if (uri === "") {
      return $multi(500);
    }
    request.uri = uri;
    request.rewritten = true;
    if (config.forwardedPrefix !== undefined) {
      ngx.req.set_header("X-Forwarded-Prefix", fillGroups(config.forwardedPrefix, groups));
    }
  }
  return $multi();
}

function prepare(document: RewriteDocument): Rewrite {
  const prefix = document.forwardedPrefix;
  const [scheme] = string.find(document.target, "^https?://");
  return {
    from: document.from,
    redirects: scheme !== undefined,
    target: parseGroups(document.target),
    forwardedPrefix: prefix === undefined ? undefined : parseGroups(prefix),
  };
}

export const rewrite: Feature<RewriteDocument, Rewrite> = {
  check: object({ from: text, target: text, "forwardedPrefix?": text }),
  prepare: (document) => prepare(document),
  early,
};
