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

function portsOf(slice: EndpointSlice, port: ServicePortMatch): readonly number[] {
  if (slice.ports.length === 0) return typeof port.targetPort === "number" ? [port.targetPort] : [];
  const out: number[] = [];
  for (const p of slice.ports) {
    if (p.protocol !== port.protocol || p.port === undefined || p.port === 0) continue;
    if (port.name === "" || p.name === port.name) out.push(p.port);
  }
  return out;
}
