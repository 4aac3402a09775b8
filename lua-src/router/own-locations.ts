/** Locations that a server-snippet defines: which requests are theirs, by the rules of nginx. */
import { type ServerSettings, settings } from "../configuration/settings";
import type { Host } from "./route";

interface OwnLocations {
  readonly exact: LuaTable<string, true>;
  readonly prefixes: LuaTable<number, { readonly path: string; readonly stop: boolean }>;
  readonly prefixCount: number;
  readonly expressions: LuaTable<number, { readonly pattern: string; readonly options: string }>;
  readonly expressionCount: number;
}

const compiled = new LuaTable<number, OwnLocations>();

function compile(server: ServerSettings | undefined): OwnLocations {
  const exact = new LuaTable<string, true>();
  const prefixes = new LuaTable<number, { path: string; stop: boolean }>();
  const expressions = new LuaTable<number, { pattern: string; options: string }>();
  let [prefixCount, expressionCount] = [0, 0];
  if (server?.locations !== undefined) {
    for (const [, { kind, path }] of pairs(server.locations)) {
      if (kind === "exact") {
        exact.set(path, true);
      } else if (kind === "prefix" || kind === "stop") {
        prefixCount += 1;
        prefixes.set(prefixCount, { path, stop: kind === "stop" });
      } else {
        expressionCount += 1;
        expressions.set(expressionCount, { pattern: path, options: kind === "iregex" ? "ijo" : "jo" });
      }
    }
  }
  return { exact, prefixes, prefixCount, expressions, expressionCount };
}

function matchesExpression(own: OwnLocations, uri: string): boolean {
  for (const i of $range(1, own.expressionCount)) {
    const { pattern, options } = own.expressions.get(i)!;
    const [from] = ngx.re.find(uri, pattern, options);
    if (from !== undefined) {
      return true;
    }
  }
  return false;
}

/** Length of the longest prefix that fits, and whether it forbids expressions. */
function longestOwn(own: OwnLocations, uri: string): LuaMultiReturn<[number, boolean]> {
  let [length, stops] = [0, false];
  for (const i of $range(1, own.prefixCount)) {
    const { path, stop } = own.prefixes.get(i)!;
    if (path.length > length && string.sub(uri, 1, path.length) === path) {
      length = path.length;
      stops = stop;
    }
  }
  return $multi(length, stops);
}

function isExactOf(host: Host, uri: string): boolean {
  if (string.sub(uri, -1) === "/") {
    return host.more?.exactSlash?.get(uri) !== undefined;
  }
  return host.paths.get(uri) !== undefined;
}

function longestOf(host: Host, uri: string): number {
  for (const i of $range(math.min(uri.length, host.longestPrefix), 1, -1)) {
    if (string.sub(uri, i, i) === "/" && host.paths.get(string.sub(uri, 1, i)) !== undefined) {
      return i;
    }
  }
  return 0;
}

/** `routed`: the host has a route for the URI. */
function isOfSnippet(place: number, host: Host, uri: string, routed: boolean): boolean {
  let own = compiled.get(place);
  if (own === undefined) {
    own = compile(settings.servers.get(place));
    compiled.set(place, own);
  }
  if (own.exact.get(uri) !== undefined) {
    return true;
  }
  const inOrder = host.more?.ordered !== undefined;
  if (!inOrder && isExactOf(host, uri)) {
    return false;
  }
  const [length, stops] = longestOwn(own, uri);
  const wins = inOrder ? length > 0 : length > longestOf(host, uri);
  if ((wins && stops) || matchesExpression(own, uri)) {
    return true;
  }
  // expressions of the host's routes beat any plain prefix
  return wins && !(inOrder && routed);
}

export { isOfSnippet };
