/** The ConfigMaps of TCP and UDP services, and hosts whose TLS is passed through → streams. */

import { isIP } from "node:net";
import type { EndpointSource } from "../model/backend.ts";
import type { Finding } from "../model/finding.ts";
import type { ObjectRef } from "../model/ids.ts";
import type { Passthrough, Stream } from "../model/stream.ts";
import type { RecordingLook } from "../objects/references.ts";
import type { Service, ServicePortRef } from "../source/kinds.ts";
import { externalNameOf } from "./backends.ts";
import type { HostLocations } from "./ingress.ts";

export interface StreamOptions {
  /** namespace/name, or "". */
  readonly tcpServicesConfigmap: string;
  readonly udpServicesConfigmap: string;
  readonly enableSslPassthrough: boolean;
  readonly disableExternalName: boolean;
  /** The controller's own. */
  readonly reservedPorts: ReadonlySet<number>;
}

export function streamsOf(look: RecordingLook, options: StreamOptions, findings: Finding[]): Stream[] {
  return [
    ...servicesOf(look, "TCP", options.tcpServicesConfigmap, options, findings),
    ...servicesOf(look, "UDP", options.udpServicesConfigmap, options, findings),
  ];
}

interface Entry {
  readonly namespace: string;
  readonly name: string;
  readonly port: string;
  readonly decode: boolean;
  readonly encode: boolean;
}

/** namespace/service:port[:PROXY[:PROXY]] */
export function parseEntry(text: string): Entry | undefined {
  const m = /^\s*([^/:\s]+)\/([^/:\s]+):([^/:\s]+)\s*(?::([^:]*))?(?::([^:]*))?$/.exec(text);
  if (m === null) return undefined;
  const [, namespace = "", name = "", port = "", decode = "", encode = ""] = m;
  const proxy = (word: string) => word.trim().toUpperCase() === "PROXY";
  return { namespace, name, port, decode: proxy(decode), encode: proxy(encode) };
}

function servicesOf(
  look: RecordingLook,
  protocol: "TCP" | "UDP",
  configMap: string,
  options: StreamOptions,
  findings: Finding[],
): Stream[] {
  if (configMap === "") return [];
  const [namespace = "", name = ""] = configMap.split("/");
  const about: ObjectRef = { kind: "ConfigMap", namespace, name };
  const object = look.configMap(namespace, name);
  if (object === undefined) {
    const at = `--${protocol.toLowerCase()}-services-configmap`;
    findings.push({ code: "configmap-missing", about, at, text: "there is no such ConfigMap; no port is opened" });
    return [];
  }
  const out: Stream[] = [];
  for (const [key, text] of Object.entries(object.data).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const read = streamOf(look, protocol, key, text, options);
    if (typeof read !== "string") out.push(read);
    else findings.push({ code: "stream-invalid", about, at: `data.${key}`, text: read });
  }
  return out;
}

/** The stream, or what is wrong with the entry. */
function streamOf(look: RecordingLook, protocol: "TCP" | "UDP", key: string, text: string, options: StreamOptions): Stream | string {
  const port = /^\s*\d{1,5}\s*$/.test(key) ? Number(key) : 0;
  if (port < 1 || port > 65535) return `"${key}" is not a port`;
  if (options.reservedPorts.has(port)) return `port ${port} is one of the controller's own`;
  const entry = parseEntry(text);
  if (entry === undefined) return `"${text.slice(0, 80)}" is not namespace/service:port[:PROXY[:PROXY]]`;
  const service = look.service(entry.namespace, entry.name);
  if (service === undefined) return `there is no Service ${entry.namespace}/${entry.name}`;
  const endpoints = endpointsOf(service, entry.port, protocol, options);
  if (typeof endpoints === "string") return endpoints;
  const tcp = protocol === "TCP";
  const source: ObjectRef = { kind: "Service", namespace: entry.namespace, name: entry.name };
  return { protocol, port, endpoints, decode: tcp && entry.decode, encode: tcp && entry.encode, source };
}

function endpointsOf(service: Service, wanted: string, protocol: "TCP" | "UDP", options: StreamOptions): EndpointSource | string {
  const { namespace, name } = service.metadata;
  const ports = service.spec.ports.filter((p) => p.protocol === protocol);
  const found = ports.find((p) => String(p.port) === wanted) ?? ports.find((p) => p.name !== "" && p.name === wanted);
  if (service.spec.type === "ExternalName") {
    const number = typeof found?.targetPort === "number" ? found.targetPort : (found?.port ?? Number(wanted));
    const external = externalNameOf(service, Number.isInteger(number) ? number : undefined, options.disableExternalName);
    return "code" in external ? external.text : external;
  }
  if (found === undefined) return `Service ${namespace}/${name} has no ${protocol} port ${wanted}`;
  const port = { name: found.name, protocol, targetPort: found.targetPort ?? found.port };
  return { kind: "slices", namespace, service: name, port };
}

/** Hosts with ssl-passthrough on any of their Ingresses: TLS goes to the Service behind "/" by its cluster address. */
export function passthroughsOf(
  hosts: ReadonlyMap<string, HostLocations>,
  look: RecordingLook,
  options: StreamOptions,
  findings: Finding[],
): Passthrough[] {
  if (!options.enableSslPassthrough) return [];
  const out: Passthrough[] = [];
  for (const host of hosts.values()) {
    const owner = host.owners.find((o) => o.annotations.values["ssl-passthrough"] === true);
    if (owner === undefined) continue;
    const target = targetOf(host, look);
    if (target.ok) out.push({ host: host.name, address: target.address, port: target.port });
    else findings.push({ code: "passthrough-impossible", about: owner.ref, at: `host "${host.name}"`, text: target.reason });
  }
  return out;
}

type Target = { readonly ok: true; readonly address: string; readonly port: number } | { readonly ok: false; readonly reason: string };

function targetOf(host: HostLocations, look: RecordingLook): Target {
  if (host.name === "" || host.name.startsWith("*")) return { ok: false, reason: "only a full host name can be passed through" };
  const root = host.locations.find((l) => l.path === "/" && l.pathType === "Prefix") ?? host.locations.find((l) => l.path === "/");
  const ref = root?.backend?.service;
  if (ref === undefined || root?.owner === undefined) return { ok: false, reason: 'its path "/" leads to no Service' };
  const service = look.service(root.owner.ref.namespace, ref.name);
  if (service === undefined) return { ok: false, reason: `there is no Service ${root.owner.ref.namespace}/${ref.name}` };
  if (isIP(service.spec.clusterIP) === 0) return { ok: false, reason: `Service ${ref.name} has no cluster address` };
  const port = servicePort(service, ref.port);
  if (port === undefined) return { ok: false, reason: `Service ${ref.name} has no such port` };
  return { ok: true, address: service.spec.clusterIP, port };
}

function servicePort(service: Service, wanted: ServicePortRef): number | undefined {
  if (wanted.number !== undefined) return wanted.number;
  return service.spec.ports.find((p) => p.name === wanted.name)?.port;
}
