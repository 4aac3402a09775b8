/** Where endpoints come from → the endpoints that are there now. */

import type { EndpointDocument } from "../lua-src/wire.ts";
import { endpointsOf } from "./build/endpoints.ts";
import type { Backend, EndpointSource } from "./model/backend.ts";
import type { Finding } from "./model/finding.ts";
import type { Model } from "./model/model.ts";
import type { Objects } from "./objects/objects.ts";
import type { EndpointSlice } from "./source/kinds.ts";

/** Addresses of names; run/resolver.ts. */
interface Addresses {
  /** Undefined until the first look-up has ended. */
  addressesOf(name: string): readonly string[] | undefined;
}

export interface NameLook extends Addresses {
  watchNames(names: ReadonlySet<string>): void;
  /** Asked for, neither answered nor failed yet. */
  isPending(name: string): boolean;
}

export function sourcesOf(model: Model): EndpointSource[] {
  return [...[...model.backends.values()].map((b) => b.endpoints), ...model.streams.map((s) => s.endpoints)];
}

/** `services`: namespace/name of those whose slices changed; `names`: ExternalName hosts whose addresses changed. */
export function isTouched(source: EndpointSource, services: ReadonlySet<string>, names: ReadonlySet<string>): boolean {
  if (source.kind === "slices") return services.has(`${source.namespace}/${source.service}`);
  return source.kind === "dns" && names.has(source.host);
}

interface Found {
  readonly slices: readonly EndpointSlice[];
  readonly endpoints: readonly EndpointDocument[];
}

const memo = new WeakMap<EndpointSource, Found>();

/** The same array again where the same slices are asked for the same source. */
export function endpointsFrom(source: EndpointSource, objects: Objects, names: Addresses): readonly EndpointDocument[] {
  if (source.kind === "fixed") return source.endpoints;
  if (source.kind === "slices") {
    const slices = objects.slices(source.namespace, source.service);
    const known = memo.get(source);
    if (known?.slices === slices) return known.endpoints;
    const endpoints = endpointsOf(slices, source.port);
    memo.set(source, { slices, endpoints });
    return endpoints;
  }
  if (source.kind === "dns") {
    return (names.addressesOf(source.host) ?? []).map((address) => ({ address, port: String(source.port) }));
  }
  return [];
}

/** What the owner of a Service without endpoints should know. */
export function whyEmpty(backend: Backend, names: Addresses): Finding | undefined {
  const { source, endpoints } = backend;
  if (source === undefined || endpoints.kind === "none") return undefined;
  if (endpoints.kind !== "dns") {
    return { code: "endpoints-missing", about: source, at: `port ${backend.document.port}`, text: "it has no ready endpoint" };
  }
  if (names.addressesOf(endpoints.host) === undefined) return undefined;
  return { code: "external-name-unresolved", about: source, at: "spec.externalName", text: `"${endpoints.host}" has no address` };
}
