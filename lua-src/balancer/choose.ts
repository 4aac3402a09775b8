/** Which of a backend and its alternatives serves a request. */
import { type Alternative, type Alternatives, byRule, owe, stickyPoint } from "./canary";
import { type Backend, refreshBackend } from "./peers";
import { isBound } from "./session";

/** The alternative that the client's session cookie is for. */
function boundAlternative({ list, count }: Alternatives): Backend | undefined {
  for (const i of $range(1, count)) {
    const backend = list.get(i)!.backend;
    if (!backend.fresh) {
      refreshBackend(backend);
    }
    if (backend.session !== undefined && backend.peers.count > 0 && isBound(backend.session)) {
      return backend;
    }
  }
  return undefined;
}

/** The alternative that a rule or the client's hash is for; the others learn whether they are still open. */
function ruledAlternative({ list, count }: Alternatives, primary: string): Backend | undefined {
  let taken = 0;
  for (const i of $range(1, count)) {
    const alternative = list.get(i)!;
    const { shaping, peers } = alternative.backend;
    alternative.open = false;
    const decided = shaping === undefined || peers.count === 0 ? false : byRule(shaping);
    if (decided === true) {
      return alternative.backend;
    }
    if (decided === undefined && shaping!.weight > 0) {
      const point = shaping!.sticky === undefined ? undefined : stickyPoint(shaping!.sticky, primary);
      if (point === undefined) {
        alternative.open = true;
      } else {
        const share = shaping!.weight / shaping!.total;
        if (point >= taken && point < taken + share) {
          return alternative.backend;
        }
        taken += share;
      }
    }
  }
  return undefined;
}

/**
 * The alternative that is due, or undefined. Shares are exact: each one is owed its share of every request that nothing
 * else decided, and is paid when a whole one is due; of several that fall due at once the others wait for the next request.
 */
function dueAlternative({ list, count }: Alternatives): Backend | undefined {
  let chosen: Alternative | undefined;
  let most = -math.huge;
  let shares = 0;
  for (const i of $range(1, count)) {
    const alternative = list.get(i)!;
    if (alternative.open) {
      const shaping = alternative.backend.shaping!;
      owe(alternative, shaping);
      shares += shaping.weight / shaping.total;
      const owed = alternative.due / alternative.total;
      if (owed > most) {
        chosen = alternative;
        most = owed;
      }
    }
  }
  // where the shares come to all requests, nothing is left for the primary, not even at the start
  if (chosen === undefined || (most < 1 && shares < 1)) {
    return undefined;
  }
  chosen.due -= chosen.total;
  return chosen.backend;
}

/** The alternative that the request itself decides on, whatever the shares; for questions about a request. */
function alternativeByRules(primary: Backend): Backend | undefined {
  const alternatives = primary.alternatives!;
  if (primary.session !== undefined && isBound(primary.session)) {
    return undefined;
  }
  return boundAlternative(alternatives) ?? ruledAlternative(alternatives, primary.name);
}

/** undefined: the backend itself. A session comes before all rules. */
function chooseAlternative(primary: Backend): Backend | undefined {
  const alternatives = primary.alternatives!;
  if (primary.session !== undefined && isBound(primary.session)) {
    return undefined;
  }
  return boundAlternative(alternatives) ?? ruledAlternative(alternatives, primary.name) ?? dueAlternative(alternatives);
}

export { alternativeByRules, chooseAlternative };
