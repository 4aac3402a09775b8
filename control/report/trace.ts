/** What -v shows of the work: at 3 backends and their endpoints, at 5 each event with its object. */

import type { EndpointDocument } from "../../lua-src/wire.ts";
import type { Backend } from "../model/backend.ts";
import type { Logger } from "../run/logger.ts";
import type { KubeObject, SourceEvent } from "../source/source.ts";

export function traceEvents(logger: Logger, batch: readonly SourceEvent[]): void {
  if (logger.verbosity < 5) return;
  for (const event of batch) {
    const removed = event.type === "delete";
    const { kind } = removed ? event : event.object;
    const { namespace, name } = removed ? event : event.object.metadata;
    const object = namespace === "" ? name : `${namespace}/${name}`;
    logger.debug(5, "Event received", {
      type: removed ? "DELETE" : "UPDATE",
      kind,
      object,
      ...(removed ? {} : { content: JSON.stringify(shown(event.object)) }),
    });
  }
}

/** The log must not hold what a Secret holds. */
function shown(object: KubeObject): unknown {
  if (object.kind !== "Secret") return object;
  return { ...object, data: Object.fromEntries(Object.keys(object.data).map((key) => [key, "[redacted]"])) };
}

export function traceBackend(logger: Logger, backend: Backend, endpoints: readonly EndpointDocument[]): void {
  if (logger.verbosity < 3) return;
  const service = backend.source === undefined ? "" : `${backend.source.namespace}/${backend.source.name}`;
  const port = String(backend.document.port);
  if (backend.endpoints.kind === "slices") logger.debug(3, "Getting Endpoints from endpointSlices for Service", { service, port });
  const found = endpoints.map(({ address, port: number }) => (address.includes(":") ? `[${address}]:${number}` : `${address}:${number}`));
  logger.debug(3, "Endpoints found for Service", { service, port, upstream: backend.id, endpoints: found });
}

export function traceBackends(logger: Logger, ids: Iterable<string>): void {
  if (logger.verbosity < 3) return;
  for (const id of ids) logger.debug(3, "Creating upstream", { upstream: id });
}
