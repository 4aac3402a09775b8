/** Annotations: retries. */

import { feature, row } from "../catalog/feature.ts";
import { int } from "../catalog/kinds.ts";
import type { Directive } from "../model/model.ts";
import { nextUpstream } from "./setting-kinds.ts";

type Family = "proxy" | "grpc" | "fastcgi";

/** A FastCGI server is no gateway: nginx does not take them there. */
const ofGateways = new Set(["http_502", "http_504"]);

/** FAMILY_next_upstream; non_idempotent once, at the end. */
export function nextUpstreamDirective(family: Family, conditions: string, nonIdempotent: boolean): Directive {
  const words = conditions.split(" ").filter((w) => w !== "non_idempotent" && !(family === "fastcgi" && ofGateways.has(w)));
  if (nonIdempotent || conditions.includes("non_idempotent")) words.push("non_idempotent");
  return { name: `${family}_next_upstream`, args: words.length === 0 ? ["off"] : words };
}

/** Whether a refused connection leads to another try. */
export function retriesRefused(conditions: string, tries: number): boolean {
  const words = conditions.split(" ");
  return words.includes("error") && !words.includes("off") && tries !== 1;
}

export const retries = feature({
  name: "retries",
  rows: {
    "proxy-next-upstream": row({
      kind: nextUpstream,
      default: undefined,
      configMapKey: "proxy-next-upstream",
      risk: "medium",
      onInvalid: "default",
      applies: "profile",
      doc: "When to try another endpoint.",
    }),
    "proxy-next-upstream-timeout": row({
      kind: int(0),
      default: undefined,
      configMapKey: "proxy-next-upstream-timeout",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "Total time for retries.",
    }),
    "proxy-next-upstream-tries": row({
      kind: int(0),
      default: 3,
      configMapKey: "proxy-next-upstream-tries",
      risk: "low",
      onInvalid: "default",
      doc: "Number of tries incl.",
    }),
  },
  build(v, { settings }) {
    const tries = v["proxy-next-upstream-tries"];
    const refused = retriesRefused(v["proxy-next-upstream"] ?? settings["proxy-next-upstream"], tries);
    const general = retriesRefused(settings["proxy-next-upstream"], settings["proxy-next-upstream-tries"]);
    if (tries === settings["proxy-next-upstream-tries"] && refused === general) return undefined;
    return { retries: { tries, refused } };
  },
  fixed(v, place) {
    const conditions = v["proxy-next-upstream"];
    const timeout = v["proxy-next-upstream-timeout"];
    const out: Directive[] = [];
    const family = place.protocol.startsWith("GRPC") ? "grpc" : place.protocol === "FCGI" ? "fastcgi" : "proxy";
    if (conditions !== undefined) out.push(nextUpstreamDirective(family, conditions, place.settings["retry-non-idempotent"]));
    if (timeout !== undefined) out.push({ name: `${family}_next_upstream_timeout`, args: [`${timeout}s`] });
    return out;
  },
});
