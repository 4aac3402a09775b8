/** The route of a host for a decoded, normalised URI: exact, then longest prefix; or in regex mode the first that matches. */
import { logError } from "../base/log";
import type { Host, Route } from "./route";

/** Expressions that PCRE refuses, so that each is logged once; their routes never match. */
const refused = new LuaTable<string, true>();

const slash = string.byte("/");

function matchOrdered(host: Host, uri: string): Route | undefined {
  const ordered = host.ordered!;
  for (const i of $range(1, host.orderedCount)) {
    const route = ordered.get(i)!;
    const start = route.start;
    if (start !== undefined) {
      if (string.lower(string.sub(uri, 1, start.length)) === start) {
        return route;
      }
    } else if (refused.get(route.pattern!) === undefined) {
      const [from, , problem] = ngx.re.find(uri, route.pattern!, "ijo");
      if (from !== undefined) {
        return route;
      }
      if (problem !== undefined) {
        refuse(route.pattern!, problem);
      }
    }
  }
  return undefined;
}

function refuse(pattern: string, problem: string): void {
  // a match that ran into PCRE's limits is this request's fault, not the expression's
  const [limit] = string.find(problem, "pcre_exec", 1, true);
  if (limit === undefined) {
    refused.set(pattern, true);
    logError("expression refused, its route is off", `${pattern}: ${problem}`);
  }
}

function matchPrefix(host: Host, uri: string): Route | undefined {
  const prefixes = host.prefixes;
  let best: Route | undefined;
  const last = math.min(uri.length, host.longestPrefix);
  for (const i of $range(1, last)) {
    if (string.byte(uri, i) === slash) {
      best = prefixes.get(string.sub(uri, 1, i)) ?? best;
    }
  }
  return best;
}

function matchPath(host: Host, uri: string): Route | undefined {
  if (host.ordered !== undefined) {
    return matchOrdered(host, uri);
  }
  return host.exact.get(uri) ?? matchPrefix(host, uri);
}

export { matchPath };
