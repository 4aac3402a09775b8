/** Service + what its Ingress says → Backend. */

import { isIP } from "node:net";
import type { BackendDocument } from "../../lua-src/wire.ts";
import { names } from "../../lua-src/wire.ts";
import type { Backend, EndpointSource, ServicePortMatch } from "../model/backend.ts";
import type { Finding } from "../model/finding.ts";
import type { ObjectRef } from "../model/ids.ts";
import type { Service, ServicePort, ServicePortRef } from "../source/kinds.ts";

export interface BackendRequest {
  readonly id: string;
  readonly namespace: string;
  readonly service: string;
  readonly port: ServicePortRef;
  /** The Ingress, and where in it. */
  readonly about: ObjectRef;
  readonly at: string;
}

export interface BackendRules {
  readonly serviceUpstream: boolean;
  readonly disableExternalName: boolean;
  /** Zone of this controller with --enable-topology-aware-routing, else undefined. */
  readonly zone: string | undefined;
}

/** The name that logs, metrics and dbg know: namespace-service-port (but see BackendSet.idOf). */
export function backendId(namespace: string, service: string, port: ServicePortRef): string {
  return `${namespace}-${service}-${port.name ?? port.number ?? ""}`;
}

export function plainDocument(name: string, port: number | string, service: Service | undefined): Omit<BackendDocument, "endpoints"> {
  return {
    name,
    ...(service === undefined ? {} : { service: { spec: { type: service.spec.type, clusterIP: service.spec.clusterIP } } }),
    port,
    sslPassthrough: false,
    sessionAffinityConfig: { name: "", mode: "", cookieSessionAffinity: { name: "" } },
    upstreamHashByConfig: {},
    noServer: false,
    trafficShapingPolicy: { weight: 0, weightTotal: 0, header: "", headerValue: "", headerPattern: "", cookie: "" },
  };
}

/** The backend and what is wrong with it; one without endpoints is still a backend (503). */
export function backendOf(
  request: BackendRequest,
  service: Service | undefined,
  rules: BackendRules,
): { backend: Backend; findings: Finding[] } {
  const { id } = request;
  const source: ObjectRef = { kind: "Service", namespace: request.namespace, name: request.service };
  const port = request.port.number ?? request.port.name ?? "";
  const document = plainDocument(id, port, service);
  const result = (endpoints: EndpointSource, code?: Finding["code"], text?: string) => ({
    backend: { id, endpoints, document, source },
    findings: code === undefined || text === undefined ? [] : [{ code, about: request.about, at: request.at, text, also: [source] }],
  });
  if (service === undefined)
    return result({ kind: "none" }, "service-missing", `there is no Service ${request.namespace}/${request.service}`);
  if (service.spec.type === "ExternalName") return externalName(request, service, rules, result);
  const found = portOf(service, request.port);
  if (found === undefined) return result({ kind: "none" }, "port-missing", `Service ${request.service} has no port ${port}`);
  if (rules.serviceUpstream) {
    const address = service.spec.clusterIP;
    if (isIP(address) !== 0) return result({ kind: "fixed", endpoints: [{ address, port: String(found.port) }] });
  }
  return result({ kind: "slices", namespace: request.namespace, service: request.service, port: portMatch(service, found, rules) });
}

function portMatch(service: Service, port: ServicePort, rules: BackendRules): ServicePortMatch {
  const aware =
    rules.zone !== undefined &&
    ((service.metadata.annotations["service.kubernetes.io/topology-mode"] ?? "").toLowerCase() === "auto" ||
      service.spec.trafficDistribution === "PreferClose");
  return {
    name: port.name,
    protocol: "TCP",
    targetPort: port.targetPort ?? port.port,
    ...(aware && rules.zone !== undefined ? { zone: rules.zone } : {}),
  };
}

/** Number, target port or name; the first that fits. */
export function portOf(service: Service, wanted: ServicePortRef): ServicePort | undefined {
  const text = String(wanted.name ?? wanted.number ?? "");
  return service.spec.ports.find(
    (p) => p.protocol !== "UDP" && (String(p.port) === text || String(p.targetPort ?? "") === text || (p.name !== "" && p.name === text)),
  );
}

const dnsName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\.?$/;

function externalName<R>(
  request: BackendRequest,
  service: Service,
  rules: BackendRules,
  result: (endpoints: EndpointSource, code?: Finding["code"], text?: string) => R,
): R {
  const found = portOf(service, request.port);
  const target = found === undefined ? request.port.number : externalPort(found);
  const endpoints = externalNameOf(service, target, rules.disableExternalName);
  if (!("code" in endpoints)) return result(endpoints);
  return result({ kind: "none" }, endpoints.code, endpoints.text);
}

/** Where an ExternalName leads, or why it does not. `target`: undefined when the Service has no such port. */
export function externalNameOf(
  service: Service,
  target: number | undefined,
  disabled: boolean,
): EndpointSource | { readonly code: Finding["code"]; readonly text: string } {
  const host = service.spec.externalName.trim().toLowerCase();
  if (disabled) return { code: "external-name-refused", text: "--disable-svc-external-name is set" };
  if (host === "localhost" || host === "localhost." || isLoopback(host)) {
    return { code: "external-name-refused", text: `"${host}" is this machine itself` };
  }
  if (target === undefined) return { code: "port-missing", text: `Service ${service.metadata.name} has no such port` };
  if (isIP(host) !== 0) return { kind: "fixed", endpoints: [{ address: host, port: String(target) }] };
  if (host.length > 253 || !dnsName.test(host)) {
    return { code: "external-name-refused", text: `"${host}" is neither an IP address nor a DNS name` };
  }
  return { kind: "dns", host, port: target };
}

function isLoopback(host: string): boolean {
  return isIP(host) !== 0 && (/^127\./.test(host) || host === "::1" || /^::ffff:127\./.test(host));
}

/** The Service of --default-backend-service by its first port; 404 by the data plane itself when it is not there. */
export function defaultBackendOf(service: Service | undefined, rules: BackendRules): Backend {
  return firstPortBackend(names.defaultBackend, service, rules);
}

export function firstPortBackend(id: string, service: Service | undefined, rules: BackendRules): Backend {
  const first = service?.spec.ports[0];
  const document = plainDocument(id, 0, service);
  if (service === undefined || first === undefined) {
    return { id, endpoints: { kind: "none" }, document, source: undefined };
  }
  const { namespace, name } = service.metadata;
  return { id, endpoints: firstPortEndpoints(service, first, rules), document, source: { kind: "Service", namespace, name } };
}

function firstPortEndpoints(service: Service, first: ServicePort, rules: BackendRules): EndpointSource {
  const { namespace, name } = service.metadata;
  if (service.spec.type !== "ExternalName") return { kind: "slices", namespace, service: name, port: portMatch(service, first, rules) };
  const endpoints = externalNameOf(service, externalPort(first), rules.disableExternalName);
  return "code" in endpoints ? { kind: "none" } : endpoints;
}

function externalPort({ targetPort, port }: ServicePort): number {
  return typeof targetPort === "number" ? targetPort : port;
}
