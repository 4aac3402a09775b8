/** Locations that a server-snippet defines: which requests are theirs, by the rules of nginx. */
import { type ServerSettings, settings } from "../configuration/settings";
import type { Host } from "./route";

interface OwnLocations {
  /** The flag: for internal redirects only. */
  readonly exact: LuaTable<string, boolean>;
  readonly prefixes: LuaTable<number, { readonly path: string; readonly stop: boolean; readonly internal: boolean }>;
  readonly prefixCount: number;
  readonly expressions: LuaTable<number, { readonly pattern: string; readonly options: string; readonly internal: boolean }>;
  readonly expressionCount: number;
}

const compiled = new LuaTable<number, OwnLocations>();

function compile(server: ServerSettings | undefined): OwnLocations {
  const exact = new LuaTable<string, boolean>();
  const prefixes = new LuaTable<number, { path: string; stop: boolean; internal: boolean }>();
  const expressions = new LuaTable<number, { pattern: string; options: string; internal: boolean }>();
  let [prefixCount, expressionCount] = [0, 0];
  if (server?.locations !== undefined) {
    for (const [, location] of pairs(server.locations)) {
      const { kind, path } = location;
      const internal = location.internal === true;
      if (kind === "exact") {
        exact.set(path, internal);
      } else if (kind === "prefix" || kind === "stop") {
        prefixCount += 1;
        prefixes.set(prefixCount, { path, stop: kind === "stop", internal });
      } else {
        expressionCount += 1;
        expressions.set(expressionCount, { pattern: path, options: kind === "iregex" ? "ijo" : "jo", internal });
      }
    }
  }
  return { exact, prefixes, prefixCount, expressions, expressionCount };
}

/** The flag of the first that fits. */
function matchExpression(own: OwnLocations, uri: string): boolean | undefined {
  for (const i of $range(1, own.expressionCount)) {
    const { pattern, options, internal } = own.expressions.get(i)!;
    const [from] = ngx.re.find(uri, pattern, options);
    if (from !== undefined) {
      return internal;
    }
  }
  return undefined;
}

/** Length of the longest prefix that fits, whether it forbids expressions, its flag. */
function longestOwn(own: OwnLocations, uri: string): LuaMultiReturn<[number, boolean, boolean]> {
  let [length, stops, closed] = [0, false, false];
  for (const i of $range(1, own.prefixCount)) {
    const { path, stop, internal } = own.prefixes.get(i)!;
    if (path.length > length && string.sub(uri, 1, path.length) === path) {
      length = path.length;
      stops = stop;
      closed = internal;
    }
  }
  return $multi(length, stops, closed);
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

/** Whether the location that takes the request is for internal redirects only; undefined: none takes it. `routed`: the host has a route for the URI. */
function snippetLocation(place: number, host: Host, uri: string, routed: boolean): boolean | undefined {
  let own = compiled.get(place);
  if (own === undefined) {
    own = compile(settings.servers.get(place));
    compiled.set(place, own);
  }
  const exact = own.exact.get(uri);
  if (exact !== undefined) {
    return exact;
  }
  const inOrder = host.more?.ordered !== undefined;
  if (!inOrder && isExactOf(host, uri)) {
    return undefined;
  }
  const [length, stops, closed] = longestOwn(own, uri);
  const wins = inOrder ? length > 0 : length > longestOf(host, uri);
  if (wins && stops) {
    return closed;
  }
  const expression = matchExpression(own, uri);
  if (expression !== undefined) {
    return expression;
  }
  // expressions of the host's routes beat any plain prefix
  return wins && !(inOrder && routed) ? closed : undefined;
}

export { snippetLocation };
