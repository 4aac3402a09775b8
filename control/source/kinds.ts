/**
 * The kinds that are watched, reduced to the fields that are read (shapes of the raw JSON API, dates are strings).
 * `reduce` drops everything else (managedFields, last-applied, status…) so that memory follows what matters.
 */

import { Malformed, type Place, placeOf } from "./fields.ts";
import {
  reduceConfigMap,
  reduceEndpointSlice,
  reduceIngress,
  reduceIngressClass,
  reduceNamespace,
  reduceNode,
  reducePod,
  reduceSecret,
  reduceService,
} from "./reduction.ts";
import type { KindName, KubeObject } from "./source.ts";

export interface Metadata {
  readonly name: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** RFC 3339, resolution of a second. */
  readonly creationTimestamp: string;
  readonly generation?: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface ServicePortRef {
  readonly number?: number;
  readonly name?: string;
}

/** What people reach the object by. */
export interface LoadBalancerAddress {
  readonly ip?: string;
  readonly hostname?: string;
}

export interface IngressBackend {
  readonly service?: { readonly name: string; readonly port: ServicePortRef };
  readonly resource?: { readonly kind: string; readonly name: string };
}

export interface IngressPath {
  readonly path: string;
  /** Absent counts as ImplementationSpecific. */
  readonly pathType?: string;
  readonly backend: IngressBackend;
}

export interface Ingress {
  readonly kind: "Ingress";
  readonly metadata: Metadata;
  readonly spec: {
    readonly ingressClassName?: string;
    readonly defaultBackend?: IngressBackend;
    readonly tls: readonly { readonly hosts: readonly string[]; readonly secretName: string }[];
    /** paths absent: a rule without http. */
    readonly rules: readonly { readonly host: string; readonly paths?: readonly IngressPath[] }[];
  };
  readonly status?: { readonly loadBalancer: readonly LoadBalancerAddress[] };
}

export interface IngressClass {
  readonly kind: "IngressClass";
  readonly metadata: Metadata;
  readonly spec: { readonly controller: string };
}

export interface ServicePort {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  /** Absent counts as port. */
  readonly targetPort?: number | string;
}

export interface Service {
  readonly kind: "Service";
  readonly metadata: Metadata;
  readonly spec: {
    readonly type: string;
    /** "" when there is none, "None" when headless. */
    readonly clusterIP: string;
    readonly clusterIPs: readonly string[];
    readonly externalIPs: readonly string[];
    readonly externalName: string;
    readonly trafficDistribution?: string;
    readonly ports: readonly ServicePort[];
  };
  readonly status: { readonly loadBalancer: readonly LoadBalancerAddress[] };
}

export interface SliceEndpoint {
  readonly addresses: readonly string[];
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
  readonly zone?: string;
  readonly hints?: readonly string[];
}

export interface EndpointSlice {
  readonly kind: "EndpointSlice";
  readonly metadata: Metadata;
  readonly addressType: string;
  /** Value of the label kubernetes.io/service-name. */
  readonly service: string;
  readonly ports: readonly { readonly name: string; readonly protocol: string; readonly port?: number }[];
  readonly endpoints: readonly SliceEndpoint[];
}

export interface Secret {
  readonly kind: "Secret";
  readonly metadata: Metadata;
  readonly type: string;
  /** Decoded; text that is not UTF-8 is kept as latin1. */
  readonly data: Readonly<Record<string, string>>;
}

export interface ConfigMap {
  readonly kind: "ConfigMap";
  readonly metadata: Metadata;
  readonly data: Readonly<Record<string, string>>;
}

export interface Namespace {
  readonly kind: "Namespace";
  readonly metadata: Metadata;
}

export interface Node {
  readonly kind: "Node";
  readonly metadata: Metadata;
  readonly addresses: readonly { readonly type: string; readonly address: string }[];
}

export interface Pod {
  readonly kind: "Pod";
  readonly metadata: Metadata;
  readonly nodeName: string;
  readonly phase: string;
  readonly ready: boolean;
}

export interface KindRow<K extends KindName = KindName> {
  readonly kind: K;
  readonly apiVersion: string;
  /** Last segment of the API path. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** Work goes on without it: refused by RBAC (403) it counts as listed and empty. */
  readonly dispensable: boolean;
  /** For list and watch. Helm keeps its releases, up to 1 MB each, in Secrets and ConfigMaps that nothing here reads. */
  readonly labelSelector?: string;
  readonly reduce: (object: Place) => Extract<KubeObject, { readonly kind: K }>;
}

export const kindRows: { readonly [K in KindName]: KindRow<K> } = {
  Ingress: {
    kind: "Ingress",
    apiVersion: "networking.k8s.io/v1",
    plural: "ingresses",
    namespaced: true,
    dispensable: false,
    reduce: reduceIngress,
  },
  IngressClass: {
    kind: "IngressClass",
    apiVersion: "networking.k8s.io/v1",
    plural: "ingressclasses",
    namespaced: false,
    dispensable: true,
    reduce: reduceIngressClass,
  },
  Service: { kind: "Service", apiVersion: "v1", plural: "services", namespaced: true, dispensable: false, reduce: reduceService },
  EndpointSlice: {
    kind: "EndpointSlice",
    apiVersion: "discovery.k8s.io/v1",
    plural: "endpointslices",
    namespaced: true,
    dispensable: false,
    reduce: reduceEndpointSlice,
  },
  Secret: {
    kind: "Secret",
    apiVersion: "v1",
    plural: "secrets",
    namespaced: true,
    dispensable: false,
    labelSelector: "owner!=helm",
    reduce: reduceSecret,
  },
  ConfigMap: {
    kind: "ConfigMap",
    apiVersion: "v1",
    plural: "configmaps",
    namespaced: true,
    dispensable: false,
    labelSelector: "owner!=helm",
    reduce: reduceConfigMap,
  },
  Namespace: { kind: "Namespace", apiVersion: "v1", plural: "namespaces", namespaced: false, dispensable: true, reduce: reduceNamespace },
  Node: { kind: "Node", apiVersion: "v1", plural: "nodes", namespaced: false, dispensable: true, reduce: reduceNode },
  Pod: { kind: "Pod", apiVersion: "v1", plural: "pods", namespaced: true, dispensable: true, reduce: reducePod },
};

export type Reduced = { readonly ok: KubeObject } | { readonly error: { readonly at: string; readonly text: string } };

/** A raw object of that kind → the fields that are read, or what is wrong with it. */
export function reduceObject(kind: KindName, raw: unknown): Reduced {
  try {
    return { ok: kindRows[kind].reduce(placeOf(raw, "")) };
  } catch (error) {
    if (error instanceof Malformed) return { error: { at: error.at, text: error.message } };
    throw error;
  }
}
