/**
 * The kinds that are watched, reduced to the fields that are read (shapes of the raw JSON API, dates are strings).
 * `reduce` drops everything else (managedFields, last-applied, status…) so that memory follows what matters.
 */

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
  readonly status: { readonly loadBalancer: readonly { readonly ip?: string; readonly hostname?: string }[] };
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
