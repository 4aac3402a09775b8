/** Objects → Model: the ordered list of steps. Pure but for memoised parsing; the same input gives the same output. */

import type { Feature } from "../catalog/feature.ts";
import { withNamedObjects } from "../catalog/named-objects.ts";
import { catalogueOf, type ResolveOptions } from "../catalog/resolve.ts";
import { type ResolvedSettings, resolveSettings } from "../catalog/settings.ts";
import { usersNamed } from "../features/auth-basic.ts";
import { features } from "../features/index.ts";
import { streamSnippetsOf } from "../features/snippets.ts";
import type { Certificate } from "../model/certificate.ts";
import type { ConfBasis } from "../model/conf-basis.ts";
import type { Finding } from "../model/finding.ts";
import type { ObjectRef } from "../model/ids.ts";
import type { Model } from "../model/model.ts";
import { noStreams } from "../model/stream.ts";
import type { ObjectsView } from "../objects/objects-view.ts";
import { RecordingLook } from "../objects/references.ts";
import type { ConfigMap, Ingress } from "../source/kinds.ts";
import type { KindName } from "../source/source.ts";
import { type Accepted, accept, type LastGood } from "./accept.ts";
import { BackendSet } from "./backend-set.ts";
import { type BackendNames, isCanary, pairCanaries } from "./canary.ts";
import { byAge, type ClassOptions, isOurs } from "./class.ts";
import { extraHosts } from "./extra-hosts.ts";
import { globalHeaders } from "./global-headers.ts";
import { HostCertificates } from "./host-certificates.ts";
import { buildHost, type HostContext } from "./hosts.ts";
import { locationsByHost } from "./ingress.ts";
import { passthroughsOf, type StreamOptions, streamsOf } from "./streams.ts";
import { trafficFeatures } from "./traffic.ts";

export interface BuildOptions extends ClassOptions, StreamOptions {
  readonly annotations: ResolveOptions & { readonly deepInspect: boolean };
  /** namespace/name, or "" for none. */
  readonly configMap: string;
  readonly defaultBackendService: string;
  readonly defaultCertificate: string;
  readonly httpsPort: number;
  /** --enable-topology-aware-routing: where this controller runs; a node that is known wins over the pod's. */
  readonly place: { readonly node: string; readonly namespace: string; readonly pod: string } | undefined;
  /** Shown where no other certificate fits. */
  readonly fakeCertificate: Certificate;
  /** Milliseconds since 1970; only for "expires soon". */
  readonly now: number;
}

export interface Built {
  readonly model: Model;
  readonly settings: ResolvedSettings;
  readonly basis: ConfBasis;
  readonly lastGood: LastGood;
  /** Our Ingresses as they count, oldest first. */
  readonly accepted: readonly Accepted[];
  readonly references: ReadonlySet<string>;
}

export const catalogue = catalogueOf(features as unknown as readonly Feature[]);
const settingsMemo = new WeakMap<ConfigMap, ResolvedSettings>();
const noSettings = resolveSettings({}, { kind: "ConfigMap", namespace: "", name: "" });

export function build(objects: ObjectsView, previous: LastGood, options: BuildOptions): Built {
  const look = new RecordingLook(objects);
  const findings: Finding[] = [];
  const settings = readSettings(look, options, findings);
  const ours = ourIngresses(objects, look, options, findings);
  const acceptance = accept(ours, previous, settings.values, catalogue, options.annotations);
  findings.push(...acceptance.findings);
  const primaries = acceptance.accepted.filter((a) => !isCanary(a));
  const hosts = locationsByHost(primaries, findings);
  const backends = new BackendSet(look, settings.values, { ...options, zone: zoneOf(look, options.place) }, findings);
  for (const owner of acceptance.accepted) backends.claim(owner);
  const targets = new Map([...hosts].map(([name, h]) => [name, h.locations.map((l) => backends.of(l))]));
  const backendNames: BackendNames = {
    primaryOf: (host, index) => targets.get(host)?.[index] ?? "",
    idOf: (namespace, service, port) => backends.idOf(namespace, service, port),
  };
  const pairs = pairCanaries(acceptance.accepted.filter(isCanary), hosts, backendNames, findings);
  for (const pair of pairs) backends.attach(pair);
  const certificates = new HostCertificates(look, options, findings);
  const certificateIds = new Map([...hosts].map(([name, h]) => [name, name === "" ? undefined : certificates.of(name, h.owners)]));
  const all = backends.all();
  const context: HostContext = {
    look,
    settings: settings.values,
    certificateIds,
    httpsPort: options.httpsPort,
    findings,
    noticed: new Set(),
    traffic: (target, host, path) => trafficFeatures(target, all, backends.issuesAt(target, host, path)),
  };
  const built = [...hosts.values()].map((h) => buildHost(h, targets.get(h.name) ?? [], context));
  const certificateOf = (host: string) => certificates.all().get(certificateIds.get(host) ?? "");
  const extra = extraHosts({ hosts, certificateOf, settings: settings.values, findings });
  const main = configMapRef(options);
  const headers = (key: "add-headers" | "proxy-set-headers") => globalHeaders(key, settings.values, main, look, findings);
  // streams are filled in by who knows the endpoints
  const basis = {
    settings: settings.values,
    requestHeaders: headers("proxy-set-headers"),
    responseHeaders: headers("add-headers"),
    streams: noStreams,
  };
  const model: Model = {
    hosts: [...built, ...extra.hosts],
    patterns: extra.patterns,
    backends: all,
    certificates: certificates.all(),
    defaultCertificate: certificates.defaultId,
    streams: streamsOf(look, options, findings),
    passthroughs: passthroughsOf(hosts, look, options, findings),
    users: usersNamed(built, look),
    streamSnippets: streamSnippetsOf(acceptance.accepted, settings.values),
    findings,
  };
  return { model, settings, basis, lastGood: acceptance.lastGood, accepted: acceptance.accepted, references: look.asked };
}

function configMapRef(options: BuildOptions): ObjectRef {
  const [namespace = "", name = ""] = options.configMap.split("/");
  return { kind: "ConfigMap", namespace, name };
}

/** The zone of the node that this controller runs on. */
function zoneOf(look: RecordingLook, place: BuildOptions["place"]): string | undefined {
  if (place === undefined) return undefined;
  const name = place.node === "" ? look.pod(place.namespace, place.pod)?.nodeName : place.node;
  const zone = name === undefined || name === "" ? undefined : look.node(name)?.metadata.labels["topology.kubernetes.io/zone"];
  return zone === "" ? undefined : zone;
}

function readSettings(look: RecordingLook, options: BuildOptions, findings: Finding[]): ResolvedSettings {
  if (options.configMap === "") return noSettings;
  const about = configMapRef(options);
  const object = look.configMap(about.namespace, about.name);
  if (object === undefined) {
    findings.push({ code: "configmap-missing", about, at: "--configmap", text: "there is no such ConfigMap; the defaults hold" });
    return noSettings;
  }
  let resolved = settingsMemo.get(object);
  if (resolved === undefined) {
    resolved = resolveSettings(object.data, about);
    settingsMemo.set(object, resolved);
  }
  const filled = withNamedObjects(resolved, about, look);
  findings.push(...filled.findings);
  return filled;
}

function ourIngresses(objects: ObjectsView, look: RecordingLook, options: BuildOptions, findings: Finding[]): Ingress[] {
  const classLook = {
    isReadable: (kind: KindName) => objects.isReadable(kind),
    ingressClass: (name: string) => objects.ingressClass(name),
    namespaceObject: (name: string) => look.namespaceObject(name),
  };
  const ours: Ingress[] = [];
  for (const ingress of objects.ingresses()) {
    const decision = isOurs(ingress, options, classLook);
    if (decision.ours) ours.push(ingress);
    if (decision.finding !== undefined) findings.push(decision.finding);
  }
  return ours.sort(byAge);
}
