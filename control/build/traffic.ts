/** What the balancing of a route's backend, and of its canaries, asks of the route itself. */

import type { FeatureDocuments } from "../../lua-src/wire.ts";
import type { Backend } from "../model/backend.ts";

/** Algorithms that learn from the end of each request. */
const learning = new Set(["ewma", "least_conn", "p2c"]);

function learns({ document }: Backend): boolean {
  const hashed = document.upstreamHashByConfig["upstream-hash-by"] !== undefined;
  return document.sessionAffinityConfig.name === "" && !hashed && learning.has(document["load-balance"] ?? "");
}

/** `issues`: clients get session cookies here. */
export function trafficFeatures(
  target: string,
  backends: ReadonlyMap<string, Backend>,
  issues: boolean,
): Pick<FeatureDocuments, "session" | "measure" | "inFlight"> {
  const primary = backends.get(target);
  if (primary === undefined) return {};
  const all = [primary, ...(primary.document.alternativeBackends ?? []).flatMap((name) => backends.get(name) ?? [])];
  return {
    ...(issues ? { session: { issue: true } } : {}),
    ...(all.some(learns) ? { measure: { end: true } } : {}),
    ...(all.some((b) => b.document.maxInFlight !== undefined) ? { inFlight: { limited: true } } : {}),
  };
}
