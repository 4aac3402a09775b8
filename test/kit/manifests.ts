/** Kubernetes objects for tests, as short as the API allows. All namespaced ones lie in "default". */

import type { KubeObject } from "./fixtures/objects.ts";

export interface PodAddress {
  readonly address: string;
  readonly port: number;
}

export const ingressClass: KubeObject = {
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name: "nginx" },
  spec: { controller: "k8s.io/ingress-nginx" },
};

export function configMap(data: Readonly<Record<string, string>>): KubeObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "sluice", namespace: "default" }, data };
}

/** A Service with the one port 80 named http. */
export function service(name: string): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "default" },
    spec: { type: "ClusterIP", ports: [{ name: "http", port: 80, targetPort: 8080, protocol: "TCP" }] },
  };
}

/** The slices of a service: one for each port that its pods have. */
export function endpointSlices(name: string, pods: readonly PodAddress[]): readonly KubeObject[] {
  const ports = [...new Set(pods.map((pod) => pod.port))];
  return (ports.length === 0 ? [80] : ports).map((port, index) => ({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: `${name}-${index}`, namespace: "default", labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ports: [{ name: "http", port, protocol: "TCP" }],
    endpoints: pods
      .filter((pod) => pod.port === port)
      .map((pod) => ({ addresses: [pod.address], conditions: { ready: true, serving: true, terminating: false } })),
  }));
}

export interface IngressOptions {
  readonly host: string;
  /** path → service; default "/" → the Ingress's name. */
  readonly paths?: Readonly<Record<string, string>>;
  readonly pathType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly tlsSecret?: string;
  /** Name or number of the service's port; default http. */
  readonly port?: string | number;
  readonly created?: string;
}

/** Annotation names without their prefix. */
export function ingress(name: string, options: IngressOptions): KubeObject {
  const annotations = Object.entries(options.annotations ?? {}).map(([key, value]) => [`nginx.ingress.kubernetes.io/${key}`, value]);
  const port = typeof options.port === "number" ? { number: options.port } : { name: options.port ?? "http" };
  const paths = Object.entries(options.paths ?? { "/": name });
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: {
      name,
      namespace: "default",
      annotations: Object.fromEntries(annotations),
      ...(options.created === undefined ? {} : { creationTimestamp: options.created }),
    },
    spec: {
      ingressClassName: "nginx",
      ...(options.tlsSecret === undefined ? {} : { tls: [{ hosts: [options.host], secretName: options.tlsSecret }] }),
      rules: [
        {
          host: options.host,
          http: {
            paths: paths.map(([path, to]) => ({ path, pathType: options.pathType ?? "Prefix", backend: { service: { name: to, port } } })),
          },
        },
      ],
    },
  };
}

/** Certificate and key as PEM text. */
export function tlsSecret(name: string, certificate: string, key: string): KubeObject {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Secret",
    type: "kubernetes.io/tls",
    metadata: { name, namespace: "default" },
    data: { "tls.crt": base64(certificate), "tls.key": base64(key) },
  };
}
