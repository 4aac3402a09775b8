/** Pairs canary Ingresses with the backends of the Ingresses they stand beside. */

import type { TrafficShapingDocument } from "../../lua-src/wire.ts";
import { names } from "../../lua-src/wire.ts";
import type { Finding } from "../model/finding.ts";
import type { ServicePortRef } from "../source/kinds.ts";
import type { Accepted } from "./accept.ts";
import { type HostLocations, pathsOf } from "./ingress.ts";

export function isCanary(accepted: Accepted): boolean {
  return accepted.annotations.values.canary === true;
}

export function trafficShaping(accepted: Accepted): TrafficShapingDocument {
  const v = accepted.annotations.values;
  const sticky = v["sluice/canary-sticky"] as TrafficShapingDocument["sticky"];
  const text = (name: string) => (v[name] as string | undefined) ?? "";
  return {
    weight: Math.max(0, v["canary-weight"] as number),
    weightTotal: v["canary-weight-total"] as number,
    header: text("canary-by-header"),
    headerValue: text("canary-by-header-value"),
    headerPattern: text("canary-by-header-pattern"),
    cookie: text("canary-by-cookie"),
    ...(sticky === undefined ? {} : { sticky }),
  };
}

/** A canary's backend and the primaries it stands beside. */
export interface CanaryPair {
  readonly canary: Accepted;
  readonly id: string;
  readonly primaries: readonly string[];
}

/** What the backends of this build are called. */
export interface BackendNames {
  /** Where a location of the host goes. */
  readonly primaryOf: (host: string, index: number) => string;
  readonly idOf: (namespace: string, service: string, port: ServicePortRef) => string;
}

/** Same host, path and path type. */
export function pairCanaries(
  canaries: readonly Accepted[],
  hosts: ReadonlyMap<string, HostLocations>,
  { primaryOf, idOf }: BackendNames,
  findings: Finding[],
): CanaryPair[] {
  const pairs: CanaryPair[] = [];
  for (const canary of canaries) {
    const { namespace } = canary.ref;
    for (const p of pathsOf(canary.ingress, canary.ref, findings)) {
      const service = p.backend.service;
      if (service === undefined) continue;
      const id = idOf(namespace, service.name, service.port);
      const primaries = new Set<string>();
      hosts.get(p.host)?.locations.forEach((location, i) => {
        if (location.path !== p.path || location.pathType !== p.pathType) return;
        const primary = primaryOf(p.host, i);
        if (primary !== id && primary !== names.defaultBackend) primaries.add(primary);
      });
      if (primaries.size === 0) findings.push(unmatched(canary, `${p.at}.path`, p.host, p.path));
      pairs.push({ canary, id, primaries: [...primaries] });
    }
    const fallback = canary.ingress.spec.defaultBackend?.service;
    if (fallback !== undefined) {
      const catchAll = hosts.get("");
      const id = idOf(namespace, fallback.name, fallback.port);
      const all = (catchAll?.locations ?? []).map((_, i) => primaryOf("", i));
      const primaries = new Set(all.filter((b) => b !== names.defaultBackend && b !== id));
      pairs.push({ canary, id, primaries: [...primaries] });
    }
  }
  return pairs;
}

function unmatched(canary: Accepted, at: string, host: string, path: string): Finding {
  return {
    code: "canary-unmatched",
    about: canary.ref,
    at,
    text: `no other Ingress serves host "${host}" path "${path}" with this path type`,
  };
}
