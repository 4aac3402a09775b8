/** The services of the soak: what stands for the whole run. Only their endpoints change. */

import { type MadeCertificate, selfSigned } from "../kit/certificates.ts";
import type { KubeObject } from "../kit/fixtures/objects.ts";
import { configMap, ingress, ingressClass, service, tlsSecret } from "../kit/manifests.ts";

export interface SoakService {
  readonly name: string;
  readonly protocol: "http" | "grpc";
  /** Of its Ingress, without the prefix. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Of another service's host, whose canary it is. */
  readonly canaryOf?: string;
}

/** One for each way of choosing an endpoint, and one for each kind of session. */
export const services: readonly SoakService[] = [
  { name: "turns", protocol: "http", annotations: {} },
  { name: "turns-new", protocol: "http", annotations: { canary: "true", "canary-weight": "20" }, canaryOf: "turns" },
  { name: "ewma", protocol: "http", annotations: { "load-balance": "ewma" } },
  { name: "hash", protocol: "http", annotations: { "upstream-hash-by": "$request_uri" } },
  { name: "sticky", protocol: "http", annotations: { affinity: "cookie" } },
  { name: "sessions", protocol: "http", annotations: { "proxy-read-timeout": "3600" } },
  { name: "rpc", protocol: "grpc", annotations: { "backend-protocol": "GRPC" } },
];

/** Hosts that HTTP requests go to. */
export const httpHosts: readonly string[] = ["turns", "ewma", "hash", "sticky"].map(hostOf);

export function hostOf(name: string): string {
  return `${name}.soak.test`;
}

/** Services whose pods may answer for a host. */
export function servicesOf(host: string): readonly string[] {
  return services.filter(({ name, canaryOf }) => hostOf(canaryOf ?? name) === host).map(({ name }) => name);
}

export const podPort = 8080;
/** Where the data plane's spans go. */
export const collectorPort = 4317;

export interface SliceEndpoint {
  readonly address: string;
  readonly terminating: boolean;
}

export function slice(name: string, endpoints: readonly SliceEndpoint[]): KubeObject {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name, namespace: "default", labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ports: [{ name: "http", port: podPort, protocol: "TCP" }],
    endpoints: endpoints.map(({ address, terminating }) => ({
      addresses: [address],
      conditions: { ready: !terminating, serving: true, terminating },
    })),
  };
}

function objectsOf({ name, annotations, canaryOf }: SoakService): readonly KubeObject[] {
  const host = hostOf(canaryOf ?? name);
  const made: MadeCertificate = selfSigned(host);
  const everywhere = { "ssl-redirect": "false", ...annotations };
  if (canaryOf !== undefined) return [service(name), ingress(name, { host, annotations: everywhere })];
  return [service(name), tlsSecret(name, made.certificate, made.key), ingress(name, { host, annotations: everywhere, tlsSecret: name })];
}

/** A cache of sessions that is full within a minute: the pages that it touches look like growth until then. */
const settings = {
  "worker-processes": "2",
  "ssl-session-cache-size": "256k",
  "enable-opentelemetry": "true",
  "otlp-collector-host": "127.0.0.1",
  "otlp-collector-port": String(collectorPort),
  "otel-sampler": "AlwaysOn",
  "otel-schedule-delay-millis": "1000",
};

export function standingObjects(): readonly KubeObject[] {
  return [ingressClass, configMap(settings), ...services.flatMap(objectsOf)];
}
