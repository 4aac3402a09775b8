/** The route of a host for a decoded, normalised URI: exact, then longest prefix; or in regex mode the first that matches. */
import { logError } from "../base/log";
import type { Host, HostMore, Route } from "./route";

/** Expressions that PCRE refuses, so that each is logged once; their routes never match. */
const refused = new LuaTable<string, true>();

const slash = string.byte("/");

function matchOrdered(more: HostMore, uri: string): Route | undefined {
  const ordered = more.ordered!;
  for (const i of $range(1, more.orderedCount)) {
    const candidate = ordered.get(i)!;
    const start = candidate.start;
    if (start !== undefined) {
      if (string.lower(string.sub(uri, 1, start.length)) === start) {
        return candidate.route;
      }
    } else if (matchesPattern(candidate.pattern!, uri)) {
      return candidate.route;
    }
  }
  return undefined;
}

function matchesPattern(pattern: string, uri: string): boolean {
  if (refused.get(pattern) !== undefined) {
    return false;
  }
  const [from, , problem] = ngx.re.find(uri, pattern, "ijo");
  if (problem !== undefined) {
    refuse(pattern, problem);
  }
  return from !== undefined;
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
  const paths = host.paths;
  let best: Route | undefined;
  const last = math.min(uri.length, host.longestPrefix);
  for (const i of $range(1, last)) {
    if (string.byte(uri, i) === slash) {
      best = paths.get(string.sub(uri, 1, i)) ?? best;
    }
  }
  return best;
}

function matchPath(host: Host, uri: string): Route | undefined {
  const more = host.more;
  if (more !== undefined) {
    if (more.ordered !== undefined) {
      return matchOrdered(more, uri);
    }
    if (more.exactSlash !== undefined) {
      const exact = more.exactSlash.get(uri);
      if (exact !== undefined) {
        return exact;
      }
    }
  }
  // a path that ends in "/" is a prefix or nothing: the loop below finds it
  return host.paths.get(uri) ?? matchPrefix(host, uri);
}

export { matchPath };
