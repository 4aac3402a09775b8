/** Locations of one host → Host: matches, features, directives and host-level settings. */

import type { FeatureDocuments, HostDocument, RouteDocument, SourceDocument } from "../../lua-src/wire.ts";
import { names } from "../../lua-src/wire.ts";
import type { Denied, Feature, Look, Notice, Owner, Place } from "../catalog/feature.ts";
import type { Settings } from "../catalog/settings.ts";
import { features } from "../features/index.ts";
import { redirectStyle } from "../features/redirect.ts";
import { serverSnippetOf } from "../features/snippets.ts";
import { traceOf } from "../features/telemetry.ts";
import type { Finding } from "../model/finding.ts";
import type { ObjectRef } from "../model/ids.ts";
import type { Fixed, Host, Protocol, Route } from "../model/model.ts";
import type { RecordingLook } from "../objects/references.ts";
import { type HostInputs, HostMemo } from "./host-memo.ts";
import { hostTlsOf } from "./host-tls.ts";
import type { HostLocations, Location } from "./ingress.ts";
import { isRegexHost, type Placed, place } from "./precedence.ts";

export interface HostContext {
  readonly look: RecordingLook;
  readonly settings: Settings;
  /** By host; undefined without a tls section. */
  readonly certificateIds: ReadonlyMap<string, string | undefined>;
  readonly httpsPort: number;
  readonly findings: Finding[];
  /** Keys of notices told already: each is told once, not once a path. */
  readonly noticed: Set<string>;
  /** What the balancing of a location's backend asks of it. */
  readonly traffic: (target: string, host: string, path: string) => FeatureDocuments;
}

interface HostResult {
  readonly host: Host;
  readonly findings: readonly Finding[];
  readonly notices: readonly Told[];
}

interface Told {
  readonly about: ObjectRef;
  readonly notice: Notice;
}

/** While one host is made. */
interface Making {
  readonly look: Look;
  readonly settings: Settings;
  readonly httpsPort: number;
  readonly findings: Finding[];
  readonly notices: Told[];
}

type HostPlace = Pick<Place, "host" | "owners" | "regex" | "hasCertificate" | "clientAuth">;

interface Compiled {
  readonly features: FeatureDocuments;
  /** What holds for the redirect to the path with a slash. */
  readonly slash: FeatureDocuments;
  readonly fixed: readonly Fixed[];
  readonly denied: boolean;
}

const refused: Compiled = { features: {}, slash: {}, fixed: [], denied: true };

const list = features as unknown as readonly Feature[];
const notForFallback = new Set(["redirect", "rewrite", "ssl-redirect"]);

const memo = new HostMemo<HostResult>();

/** `targets[i]` is the backend of `host.locations[i]`. */
export function buildHost(host: HostLocations, targets: readonly string[], context: HostContext): Host {
  const { settings, httpsPort, certificateIds } = context;
  const certificate = certificateIds.get(host.name);
  const mapped = certificate !== undefined || certificateIds.get(host.name.replace(/^[^.]+/, "*")) !== undefined;
  const traffic = host.locations.map((l, i) => context.traffic(targets[i] ?? names.defaultBackend, host.name, l.path));
  const inputs: HostInputs = {
    settings,
    httpsPort,
    certificate,
    mapped,
    owners: host.owners,
    targets: targets.map((target, i) => `${target} ${JSON.stringify(traffic[i])}`),
  };
  const made = memo.of(host.name, inputs, context.look, (look) => {
    const making: Making = { look, settings, httpsPort, findings: [], notices: [] };
    const built = makeHost(host, { targets, traffic, certificate, mapped }, making);
    return { host: built, findings: making.findings, notices: making.notices };
  });
  context.findings.push(...made.findings);
  for (const { about, notice } of made.notices) tell(context, about, notice);
  return made.host;
}

interface Around {
  readonly targets: readonly string[];
  readonly traffic: readonly FeatureDocuments[];
  readonly certificate: string | undefined;
  readonly mapped: boolean;
}

function makeHost(host: HostLocations, { targets, traffic, certificate, mapped }: Around, context: Making): Host {
  const regex = isRegexHost(host.locations);
  const owners = host.owners.map((o): Owner => ({ ingress: o.ingress, values: o.annotations.values }));
  const tls = hostTlsOf(host.owners, context.settings, context.look);
  const at: HostPlace = { host: host.name, owners, regex, hasCertificate: mapped, clientAuth: tls.document?.clientAuth };
  const compiled = new Map<Location, Compiled>();
  const indexOf = new Map(host.locations.map((l, i) => [l, i]));
  const routes = place(host.name, host.locations, context.findings).map((placed): Route => {
    let c = compiled.get(placed.location);
    if (c === undefined) {
      c = compile(at, placed.location, context);
      compiled.set(placed.location, c);
    }
    const index = indexOf.get(placed.location) ?? -1;
    return routeOf(placed, targets[index] ?? names.defaultBackend, c, traffic[index] ?? {});
  });
  const settings = {
    ...hostSettings(host),
    ...(tls.closed ? { deny: 403 } : {}),
    ...(tls.document === undefined ? {} : { tls: tls.document }),
  };
  const snippet = serverSnippetOf(at.owners, context.settings)?.text;
  return { name: host.name, settings, routes, certificate, authority: tls.authority, ...(snippet === undefined ? {} : { snippet }) };
}

function routeOf(placed: Placed, backend: string, compiled: Compiled, traffic: FeatureDocuments): Route {
  const { location, match, slash } = placed;
  const features = slash === undefined ? compiled.features : compiled.slash;
  const fixed: RouteDocument["fixed"] = slash !== undefined ? { slash } : compiled.denied ? { status: 503 } : undefined;
  return {
    match,
    target: fixed === undefined ? { kind: "backend", backend } : { kind: "fixed", fixed },
    protocol: protocolOf(location, backend),
    fixed: fixed === undefined ? compiled.fixed : [],
    features: compiled.denied ? {} : slash === undefined ? { ...features, ...traffic } : features,
    labels: labelsOf(location),
    source: location.owner?.ref,
  };
}

function protocolOf(location: Location, backend: string): Protocol {
  if (backend === names.defaultBackend) return "HTTP";
  return (location.owner?.annotations.values["backend-protocol"] as Protocol | undefined) ?? "HTTP";
}

function labelsOf(location: Location): SourceDocument {
  const service = location.backend?.service;
  return {
    namespace: location.owner?.ref.namespace ?? "",
    ingress: location.owner?.ref.name ?? "",
    service: service?.name ?? "",
    port: String(service?.port.name ?? service?.port.number ?? ""),
    path: location.path,
  };
}

function compile(place: HostPlace, location: Location, context: Making): Compiled {
  const owner = location.owner;
  if (owner === undefined) {
    const off = context.settings["enable-access-log-for-default-backend"] ? {} : { accessLog: { off: true as const } };
    const required = place.clientAuth?.verify === "on" ? { clientCertificate: { required: true } } : {};
    return { features: { ...off, ...required, ...traceOf(context.settings) }, slash: {}, fixed: [], denied: false };
  }
  const denied = owner.annotations.denied;
  if (denied !== undefined) {
    report(context, location, denied);
    return refused;
  }
  const { look, settings, httpsPort } = context;
  const protocol = protocolOf(location, "");
  const at: Place = {
    ...place,
    ingress: owner.ingress,
    path: location.path,
    exact: location.pathType === "Exact",
    protocol,
    httpsPort,
    settings,
    look,
  };
  const documents: FeatureDocuments = {};
  const fixed: Fixed[] = [];
  for (const feature of list) {
    if (location.fallback === true && notForFallback.has(feature.name)) continue;
    const refusal = feature.deny?.(owner.annotations.values as never, at);
    if (refusal !== undefined) {
      report(context, location, refusal);
      return refused;
    }
    for (const notice of feature.notices?.(owner.annotations.values as never, at) ?? []) context.notices.push({ about: owner.ref, notice });
    Object.assign(documents, feature.build?.(owner.annotations.values as never, at));
    fixed.push(...(feature.fixed?.(owner.annotations.values as never, at) ?? []));
  }
  return { features: documents, slash: slashFeatures(documents, owner.annotations.values), fixed, denied: false };
}

function slashFeatures({ accessLog, customHeaders, trace }: FeatureDocuments, values: object): FeatureDocuments {
  const style = redirectStyle(values);
  return {
    ...(accessLog === undefined ? {} : { accessLog }),
    ...(customHeaders === undefined ? {} : { customHeaders }),
    ...(trace === undefined ? {} : { trace }),
    ...(style === undefined ? {} : { redirectStyle: style }),
  };
}

function tell(context: HostContext, about: ObjectRef, { annotation, reason }: Notice): void {
  const key = JSON.stringify([about, annotation]);
  if (context.noticed.has(key)) return;
  context.noticed.add(key);
  context.findings.push({ code: "annotation-invalid", about, at: `metadata.annotations[${annotation}]`, text: reason });
}

function report(context: Making, location: Location, denied: Denied): void {
  if (location.owner === undefined || location.implicit) return;
  const text = `${denied.annotation}: ${denied.reason}; path "${location.path}" answers 503`;
  context.findings.push({ code: denied.code, about: location.owner.ref, at: location.at, text });
}

function hostSettings(host: HostLocations): Omit<HostDocument, "name" | "routes"> {
  const sorted = [...host.locations].sort((a, b) => b.path.length - a.path.length);
  for (const location of sorted) {
    const appRoot = location.fallback === true ? undefined : (location.owner?.annotations.values["app-root"] as string | undefined);
    if (appRoot !== undefined) return { appRoot };
  }
  return {};
}
