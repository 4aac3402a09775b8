/** What a build reads of the objects, and the same with one Ingress put in and all but its neighbours left out. */

import type { ConfigMap, Ingress, IngressClass, Namespace, Node, Pod, Secret, Service } from "../source/kinds.ts";
import type { KindName } from "../source/source.ts";
import { namesOf, type Objects } from "./objects.ts";

export interface ObjectsView {
  ingresses(): Iterable<Ingress>;
  isReadable(kind: KindName): boolean;
  ingressClass(name: string): IngressClass | undefined;
  service(namespace: string, name: string): Service | undefined;
  secret(namespace: string, name: string): Secret | undefined;
  configMap(namespace: string, name: string): ConfigMap | undefined;
  namespaceObject(name: string): Namespace | undefined;
  node(name: string): Node | undefined;
  pod(namespace: string, name: string): Pod | undefined;
}

/** The candidate in place of its stored version, beside the Ingresses that share a host or an alias with it. */
export function viewWith(objects: Objects, candidate: Ingress): ObjectsView {
  const neighbours = new Set<Ingress>();
  for (const name of namesOf(candidate)) {
    for (const ingress of objects.ingressesNaming(name)) if (!sameName(ingress, candidate)) neighbours.add(ingress);
  }
  return {
    ingresses: () => [...neighbours, candidate],
    isReadable: (kind) => objects.isReadable(kind),
    ingressClass: (name) => objects.ingressClass(name),
    service: (namespace, name) => objects.service(namespace, name),
    secret: (namespace, name) => objects.secret(namespace, name),
    configMap: (namespace, name) => objects.configMap(namespace, name),
    namespaceObject: (name) => objects.namespaceObject(name),
    node: (name) => objects.node(name),
    pod: (namespace, name) => objects.pod(namespace, name),
  };
}

function sameName(a: Ingress, b: Ingress): boolean {
  return a.metadata.name === b.metadata.name && a.metadata.namespace === b.metadata.namespace;
}
