/** Which of a backend and its alternatives serves a request. */
import { type Alternative, type Alternatives, byRule } from "./canary";
import { type Backend, refreshBackend } from "./peers";

/**
 * The alternative that is due, or undefined. Shares are exact: each one is owed its share of every request that no rule
 * decided, and is paid when a whole one is due; of two that fall due at once the second waits for the next request.
 */
function chooseAlternative({ list, count }: Alternatives): Backend | undefined {
  let chosen: Alternative | undefined;
  for (const i of $range(1, count)) {
    const alternative = list.get(i)!;
    const backend = alternative.backend;
    if (!backend.fresh) {
      refreshBackend(backend);
    }
    const shaping = backend.shaping;
    if (shaping !== undefined && backend.peers.count > 0) {
      const decided = byRule(shaping);
      if (decided === true) {
        return backend;
      }
      if (decided === undefined && shaping.share > 0) {
        alternative.due += shaping.share;
        if (chosen === undefined && alternative.due >= 1 - 1e-9) {
          chosen = alternative;
        }
      }
    }
  }
  if (chosen === undefined) {
    return undefined;
  }
  chosen.due -= 1;
  return chosen.backend;
}

export { chooseAlternative };
