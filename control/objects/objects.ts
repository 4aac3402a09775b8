/** The last known objects by kind, with the indexes that build/ reads, and which of them the last build asked for. */

import { isDeepStrictEqual } from "node:util";
import { readAlias, wwwCounterpart } from "../catalog/alias-names.ts";
import { type ObjectRef, refKey } from "../model/ids.ts";
import type { ConfigMap, EndpointSlice, Ingress, IngressClass, Namespace, Node, Pod, Secret, Service } from "../source/kinds.ts";
import type { KindName, KubeObject, SourceEvent } from "../source/source.ts";

/** What a batch of events touched: endpoints only, or what the model is made of, or nothing that is read. */
export interface Touched {
  model: boolean;
  /** "namespace/service" of changed EndpointSlices. */
  readonly services: Set<string>;
}

const noSlices: readonly EndpointSlice[] = [];

export class Objects {
  readonly #byKind = new Map<KindName, Map<string, KubeObject>>();
  readonly #slices = new Map<string, Map<string, EndpointSlice>>();
  /** Sorted, as long as they do not change. */
  readonly #sorted = new Map<string, readonly EndpointSlice[]>();
  readonly #unreadable = new Set<KindName>();
  readonly #byName = new Map<string, Set<string>>();
  #references: ReadonlySet<string> = new Set();

  /** Takes one batch over and says what it means for the model. */
  change(events: readonly SourceEvent[]): Touched {
    const touched: Touched = { model: false, services: new Set() };
    for (const event of events) {
      if (event.type === "upsert") this.#upsert(event.object, touched);
      else this.#remove(event, touched);
    }
    return touched;
  }

  #upsert(object: KubeObject, touched: Touched): void {
    const key = nameKey(object.metadata.namespace, object.metadata.name);
    const kind = this.#kind(object.kind);
    const old = kind.get(key);
    kind.set(key, object);
    if (old?.kind === "Ingress") this.#dropNames(old, key);
    if (object.kind === "Ingress") this.#addNames(object, key);
    if (object.kind === "EndpointSlice") {
      if (old?.kind === "EndpointSlice") this.#dropSlice(old, touched);
      this.#addSlice(object, touched);
    } else if (old?.kind !== "Ingress" || object.kind !== "Ingress" || !sameForBuild(old, object))
      this.#touch(object.kind, object.metadata.namespace, object.metadata.name, touched);
  }

  #remove(event: { readonly kind: KindName; readonly namespace: string; readonly name: string }, touched: Touched): void {
    const kind = this.#kind(event.kind);
    const old = kind.get(nameKey(event.namespace, event.name));
    if (old === undefined) return;
    kind.delete(nameKey(event.namespace, event.name));
    if (old.kind === "Ingress") this.#dropNames(old, nameKey(event.namespace, event.name));
    if (old.kind === "EndpointSlice") this.#dropSlice(old, touched);
    else this.#touch(event.kind, event.namespace, event.name, touched);
  }

  #touch(kind: KindName, namespace: string, name: string, touched: Touched): void {
    if (kind === "Ingress" || kind === "IngressClass") touched.model = true;
    else if (this.#references.has(refKey({ kind, namespace, name }))) touched.model = true;
  }

  #addNames(ingress: Ingress, key: string): void {
    for (const name of namesOf(ingress)) {
      const keys = this.#byName.get(name);
      if (keys === undefined) this.#byName.set(name, new Set([key]));
      else keys.add(key);
    }
  }

  #dropNames(ingress: Ingress, key: string): void {
    for (const name of namesOf(ingress)) {
      const keys = this.#byName.get(name);
      keys?.delete(key);
      if (keys?.size === 0) this.#byName.delete(name);
    }
  }

  #addSlice(slice: EndpointSlice, touched: Touched): void {
    const service = nameKey(slice.metadata.namespace, slice.service);
    let slices = this.#slices.get(service);
    if (slices === undefined) {
      slices = new Map();
      this.#slices.set(service, slices);
    }
    slices.set(slice.metadata.name, slice);
    this.#sorted.delete(service);
    touched.services.add(service);
  }

  #dropSlice(slice: EndpointSlice, touched: Touched): void {
    const service = nameKey(slice.metadata.namespace, slice.service);
    const slices = this.#slices.get(service);
    slices?.delete(slice.metadata.name);
    if (slices?.size === 0) this.#slices.delete(service);
    this.#sorted.delete(service);
    touched.services.add(service);
  }

  #kind(kind: KindName): Map<string, KubeObject> {
    let map = this.#byKind.get(kind);
    if (map === undefined) {
      map = new Map();
      this.#byKind.set(kind, map);
    }
    return map;
  }

  /** What the last build asked for, also what it did not find; events about other Services, Secrets… do not matter. */
  setReferences(references: ReadonlySet<string>): void {
    this.#references = references;
  }

  get(ref: ObjectRef): KubeObject | undefined {
    return this.#byKind.get(ref.kind as KindName)?.get(nameKey(ref.namespace, ref.name));
  }

  *all(): Generator<KubeObject> {
    for (const kind of this.#byKind.values()) yield* kind.values();
  }

  ingresses(): Iterable<Ingress> {
    return this.#kind("Ingress").values() as Iterable<Ingress>;
  }

  /** Ingresses of any class that have the name by namesOf(). */
  ingressesNaming(name: string): Ingress[] {
    const ingresses = this.#kind("Ingress");
    return [...(this.#byName.get(name) ?? [])].map((key) => ingresses.get(key) as Ingress);
  }

  setReadable(kind: KindName, readable: boolean): void {
    if (readable) this.#unreadable.delete(kind);
    else this.#unreadable.add(kind);
  }

  /** False: what is not there may only be hidden. */
  isReadable(kind: KindName): boolean {
    return !this.#unreadable.has(kind);
  }

  classes(): Iterable<IngressClass> {
    return this.#kind("IngressClass").values() as Iterable<IngressClass>;
  }

  ingressClass(name: string): IngressClass | undefined {
    return this.#kind("IngressClass").get(nameKey("", name)) as IngressClass | undefined;
  }

  service(namespace: string, name: string): Service | undefined {
    return this.#kind("Service").get(nameKey(namespace, name)) as Service | undefined;
  }

  secret(namespace: string, name: string): Secret | undefined {
    return this.#kind("Secret").get(nameKey(namespace, name)) as Secret | undefined;
  }

  configMap(namespace: string, name: string): ConfigMap | undefined {
    return this.#kind("ConfigMap").get(nameKey(namespace, name)) as ConfigMap | undefined;
  }

  namespaceObject(name: string): Namespace | undefined {
    return this.#kind("Namespace").get(nameKey("", name)) as Namespace | undefined;
  }

  node(name: string): Node | undefined {
    return this.#kind("Node").get(nameKey("", name)) as Node | undefined;
  }

  pod(namespace: string, name: string): Pod | undefined {
    return this.#kind("Pod").get(nameKey(namespace, name)) as Pod | undefined;
  }

  /** Slices of a Service, sorted by name; the same array until one of them changes. */
  slices(namespace: string, service: string): readonly EndpointSlice[] {
    const key = nameKey(namespace, service);
    let sorted = this.#sorted.get(key);
    if (sorted === undefined) {
      const slices = this.#slices.get(key);
      if (slices === undefined) return noSlices;
      sorted = [...slices.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
      this.#sorted.set(key, sorted);
    }
    return sorted;
  }

  /** The version of an object that was read last; undefined when it is not there. */
  versionOf(ref: ObjectRef): string | undefined {
    return this.get(ref)?.metadata.resourceVersion;
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#byKind].map(([kind, map]) => [kind, map.size]));
  }
}

/** Only its status or its labels differ: nothing that a build reads. */
export function sameForBuild(a: Ingress, b: Ingress): boolean {
  const { uid, creationTimestamp, annotations } = a.metadata;
  if (uid !== b.metadata.uid || creationTimestamp !== b.metadata.creationTimestamp) return false;
  return isDeepStrictEqual(annotations, b.metadata.annotations) && isDeepStrictEqual(a.spec, b.spec);
}

/**
 * Names that an Ingress has a say in, lower case: hosts ("" is the catch-all), aliases, and what a redirect to or from
 * "www." would take. Annotations count under any prefix, so there may be more names than it gets.
 */
export function namesOf(ingress: Ingress): Set<string> {
  const names = new Set(ingress.spec.rules.map((rule) => rule.host.toLowerCase()));
  if (ingress.spec.defaultBackend !== undefined && ingress.spec.rules.length === 0) names.add("");
  const hosts = [...names];
  for (const [key, value] of Object.entries(ingress.metadata.annotations)) {
    if (key.endsWith("/server-alias")) for (const item of value.split(",")) for (const name of readAlias(item.trim())) names.add(name);
    if (key.endsWith("/from-to-www-redirect")) for (const host of hosts) if (wwwCounterpart(host) !== "") names.add(wwwCounterpart(host));
  }
  return names;
}

function nameKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
