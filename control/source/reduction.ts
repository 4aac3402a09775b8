/** Raw API objects → the fields of kinds.ts. Every function throws Malformed for a field of the wrong type. */

import {
  join,
  Malformed,
  numberOrText,
  optional,
  optionalFlag,
  optionalNumber,
  optionalPort,
  optionalText,
  type Place,
  places,
  requiredText,
  text,
  textMap,
  texts,
  within,
} from "./fields.ts";
import type {
  ConfigMap,
  EndpointSlice,
  Ingress,
  IngressBackend,
  IngressClass,
  IngressPath,
  LoadBalancerAddress,
  Metadata,
  Namespace,
  Node,
  Pod,
  Secret,
  Service,
  SliceEndpoint,
} from "./kinds.ts";

const none: Readonly<Record<string, string>> = Object.freeze({});
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** What of the metadata is worth its memory. */
type Kept = "all" | "labels" | "neither";

function metadata(object: Place, kept: Kept): Metadata {
  const place = within(object, "metadata");
  const generation = optionalNumber(place, "generation");
  return {
    name: requiredText(place, "name"),
    namespace: text(place, "namespace"),
    uid: text(place, "uid"),
    resourceVersion: text(place, "resourceVersion"),
    creationTimestamp: text(place, "creationTimestamp"),
    ...(generation === undefined ? {} : { generation }),
    labels: kept === "neither" ? none : textMap(place, "labels"),
    annotations: kept === "all" ? textMap(place, "annotations", lastApplied) : none,
  };
}

export function reduceIngress(object: Place): Ingress {
  const spec = within(object, "spec");
  const defaultBackend = optional(spec, "defaultBackend");
  const ingressClassName = optionalText(spec, "ingressClassName");
  const addresses = loadBalancer(object);
  return {
    kind: "Ingress",
    metadata: metadata(object, "all"),
    spec: {
      ...(ingressClassName === undefined ? {} : { ingressClassName }),
      ...(defaultBackend === undefined ? {} : { defaultBackend: ingressBackend(defaultBackend) }),
      tls: places(spec, "tls").map((tls) => ({ hosts: texts(tls, "hosts"), secretName: text(tls, "secretName") })),
      rules: places(spec, "rules").map((rule) => {
        const http = optional(rule, "http");
        return { host: text(rule, "host"), ...(http === undefined ? {} : { paths: places(http, "paths").map(ingressPath) }) };
      }),
    },
    ...(addresses.length === 0 ? {} : { status: { loadBalancer: addresses } }),
  };
}

function loadBalancer(object: Place): LoadBalancerAddress[] {
  return places(within(within(object, "status"), "loadBalancer"), "ingress").map(loadBalancerAddress);
}

function ingressPath(place: Place): IngressPath {
  const pathType = optionalText(place, "pathType");
  return { path: text(place, "path"), ...(pathType === undefined ? {} : { pathType }), backend: ingressBackend(within(place, "backend")) };
}

function ingressBackend(place: Place): IngressBackend {
  if ("serviceName" in place.raw)
    throw new Malformed(join(place, "serviceName"), "is the form of v1beta1; v1 has service.name and service.port");
  const service = optional(place, "service");
  const resource = optional(place, "resource");
  if (service === undefined) {
    return resource === undefined ? {} : { resource: { kind: text(resource, "kind"), name: text(resource, "name") } };
  }
  const port = within(service, "port");
  const number = optionalPort(port, "number");
  const name = optionalText(port, "name");
  return {
    service: {
      name: requiredText(service, "name"),
      port: { ...(number === undefined ? {} : { number }), ...(name === undefined ? {} : { name }) },
    },
  };
}

export function reduceIngressClass(object: Place): IngressClass {
  return { kind: "IngressClass", metadata: metadata(object, "all"), spec: { controller: text(within(object, "spec"), "controller") } };
}

export function reduceService(object: Place): Service {
  const spec = within(object, "spec");
  const clusterIP = text(spec, "clusterIP");
  const clusterIPs = texts(spec, "clusterIPs");
  const trafficDistribution = optionalText(spec, "trafficDistribution");
  return {
    kind: "Service",
    metadata: metadata(object, "all"),
    spec: {
      type: optionalText(spec, "type") ?? "ClusterIP",
      clusterIP,
      clusterIPs: clusterIPs.length === 0 && clusterIP !== "" ? [clusterIP] : clusterIPs,
      externalIPs: texts(spec, "externalIPs"),
      externalName: text(spec, "externalName"),
      ...(trafficDistribution === undefined ? {} : { trafficDistribution }),
      ports: places(spec, "ports").map((place) => {
        const port = optionalPort(place, "port");
        if (port === undefined) throw new Malformed(join(place, "port"), "is required");
        const targetPort = numberOrText(place, "targetPort");
        return {
          name: text(place, "name"),
          protocol: optionalText(place, "protocol") ?? "TCP",
          port,
          ...(targetPort === undefined ? {} : { targetPort }),
        };
      }),
    },
    status: { loadBalancer: loadBalancer(object) },
  };
}

function loadBalancerAddress(place: Place): LoadBalancerAddress {
  const ip = optionalText(place, "ip");
  const hostname = optionalText(place, "hostname");
  return { ...(ip === undefined ? {} : { ip }), ...(hostname === undefined ? {} : { hostname }) };
}

export function reduceEndpointSlice(object: Place): EndpointSlice {
  const labels = textMap(within(object, "metadata"), "labels");
  return {
    kind: "EndpointSlice",
    metadata: metadata(object, "neither"),
    addressType: text(object, "addressType"),
    service: labels["kubernetes.io/service-name"] ?? "",
    ports: places(object, "ports").map((place) => {
      const port = optionalPort(place, "port");
      return { name: text(place, "name"), protocol: optionalText(place, "protocol") ?? "TCP", ...(port === undefined ? {} : { port }) };
    }),
    endpoints: places(object, "endpoints").map(sliceEndpoint),
  };
}

function sliceEndpoint(place: Place): SliceEndpoint {
  const conditions = within(place, "conditions");
  const ready = optionalFlag(conditions, "ready");
  const serving = optionalFlag(conditions, "serving");
  const terminating = optionalFlag(conditions, "terminating");
  const zone = optionalText(place, "zone");
  const hints = optional(place, "hints");
  return {
    addresses: texts(place, "addresses"),
    ...(ready === undefined ? {} : { ready }),
    ...(serving === undefined ? {} : { serving }),
    ...(terminating === undefined ? {} : { terminating }),
    ...(zone === undefined ? {} : { zone }),
    ...(hints === undefined ? {} : { hints: places(hints, "forZones").map((zoneHint) => text(zoneHint, "name")) }),
  };
}

export function reduceSecret(object: Place): Secret {
  const encoded = textMap(object, "data");
  const plain = textMap(object, "stringData");
  const decoded = Object.entries(encoded).map(([key, value]) => [key, decode(value, `data[${key}]`)] as const);
  const data = Object.fromEntries([...decoded, ...Object.entries(plain)]);
  return { kind: "Secret", metadata: metadata(object, "all"), type: optionalText(object, "type") ?? "Opaque", data };
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decode(value: string, at: string): string {
  const compact = value.replaceAll(/\s+/g, "");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact) || compact.length % 4 !== 0) throw new Malformed(at, "is not base64");
  const bytes = Buffer.from(compact, "base64");
  try {
    return utf8.decode(bytes);
  } catch {
    return bytes.toString("latin1");
  }
}

export function reduceConfigMap(object: Place): ConfigMap {
  return { kind: "ConfigMap", metadata: metadata(object, "all"), data: textMap(object, "data") };
}

export function reduceNamespace(object: Place): Namespace {
  return { kind: "Namespace", metadata: metadata(object, "labels") };
}

export function reduceNode(object: Place): Node {
  const addresses = places(within(object, "status"), "addresses");
  return {
    kind: "Node",
    metadata: metadata(object, "labels"),
    addresses: addresses.map((place) => ({ type: text(place, "type"), address: text(place, "address") })),
  };
}

export function reducePod(object: Place): Pod {
  const status = within(object, "status");
  const ready = places(status, "conditions").some((place) => text(place, "type") === "Ready" && text(place, "status") === "True");
  return {
    kind: "Pod",
    metadata: metadata(object, "labels"),
    nodeName: text(within(object, "spec"), "nodeName"),
    phase: text(status, "phase"),
    ready,
  };
}
