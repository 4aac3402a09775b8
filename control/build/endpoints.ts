/** EndpointSlices → the endpoints of one backend. The short path of an endpoint change and the full build share it. */

import { isIPv6 } from "node:net";
import type { EndpointDocument } from "../../lua-src/wire.ts";
import type { ServicePortMatch } from "../model/backend.ts";
import type { EndpointSlice, SliceEndpoint } from "../source/kinds.ts";

/**
 * Endpoints that are not explicitly unready, each address and port once, in a stable order.
 * Where none is ready, those that still serve while they terminate are used (a rollout must not turn into 503s).
 */
export function endpointsOf(slices: readonly EndpointSlice[], port: ServicePortMatch): EndpointDocument[] {
  const ready = collect(slices, port, (e) => e.ready !== false);
  return ready.length > 0 ? ready : collect(slices, port, (e) => e.serving === true && e.terminating === true);
}

function collect(
  slices: readonly EndpointSlice[],
  port: ServicePortMatch,
  usable: (endpoint: SliceEndpoint) => boolean,
): EndpointDocument[] {
  const out = new Map<string, EndpointDocument>();
  for (const slice of slices) {
    if (slice.addressType === "FQDN") continue;
    const zone = port.zone !== undefined && hinted(slice, port.zone) ? port.zone : undefined;
    for (const number of portsOf(slice, port)) {
      for (const endpoint of slice.endpoints) {
        if (!usable(endpoint)) continue;
        if (zone !== undefined && endpoint.hints?.includes(zone) !== true) continue;
        for (const address of endpoint.addresses) {
          const text = isIPv6(address) ? `[${address}]` : address;
          out.set(`${text}:${number}`, { address, port: String(number) });
        }
      }
    }
  }
  return [...out].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, e]) => e);
}

/** Hints count only where every endpoint of the slice has some and one is for the zone. */
function hinted(slice: EndpointSlice, zone: string): boolean {
  return slice.endpoints.every((e) => (e.hints?.length ?? 0) > 0) && slice.endpoints.some((e) => e.hints?.includes(zone) === true);
}

/** By the Service port's name; where the slice has no port of that name, as one made by hand, a numeric target port counts. */
function portsOf(slice: EndpointSlice, port: ServicePortMatch): readonly number[] {
  const target = typeof port.targetPort === "number" ? [port.targetPort] : [];
  if (slice.ports.length === 0) return target;
  const known = slice.ports.filter((p) => p.protocol === port.protocol);
  const named = known.flatMap((p) => ((port.name === "" || p.name === port.name) && p.port ? [p.port] : []));
  return named.length > 0 || known.length === 0 ? named : target;
}
