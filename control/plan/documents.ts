/** Model → the JSON documents of wire.ts, as text by key: what is compared and sent. */

import { isIP } from "node:net";
import type {
  AccessDocument,
  BackendDocument,
  EndpointDocument,
  GeneralDocument,
  HostDocument,
  RouteDocument,
} from "../../lua-src/wire.ts";
import { names } from "../../lua-src/wire.ts";
import { namesVariable, routeVariables } from "../catalog/nginx-variables.ts";
import type { Settings } from "../catalog/settings.ts";
import { retriesRefused } from "../features/retries.ts";
import { tracingOf } from "../features/telemetry.ts";
import type { Backend } from "../model/backend.ts";
import type { Certificate } from "../model/certificate.ts";
import type { ConfBasis } from "../model/conf-basis.ts";
import type { Host, HostPattern, Model, Route } from "../model/model.ts";
import { withSharedLists } from "./address-lists.ts";
import { chainsAddresses, trustedPeers } from "./client-chain.ts";
import { profileOf } from "./profiles.ts";

/** Text by key, one map per kind of the batch. */
export interface Documents {
  readonly hosts: ReadonlyMap<string, string>;
  readonly backends: ReadonlyMap<string, string>;
  readonly certificates: ReadonlyMap<string, string>;
  readonly servers: ReadonlyMap<string, string>;
  readonly users: ReadonlyMap<string, string>;
  readonly networks: ReadonlyMap<string, string>;
  readonly general: string;
}

export type EndpointsOf = (backend: Backend) => readonly EndpointDocument[];

interface HostText {
  readonly text: string;
  /** Long lists of addresses that it names. */
  readonly networks: ReadonlyMap<string, string>;
}

const hostMemo = new WeakMap<Host, HostText>();

export function documentsOf(model: Model, general: GeneralDocument, endpointsOf: EndpointsOf): Documents {
  const hosts = new Map<string, string>();
  const authorities = new Map<string, string>();
  const networks = new Map<string, string>();
  const servers = new Map<string, string>([[names.defaultCertificate, model.defaultCertificate]]);
  for (const host of model.hosts) {
    const { text, networks: named } = hostText(host);
    hosts.set(host.name, text);
    for (const [id, list] of named) networks.set(id, list);
    if (host.certificate !== undefined) servers.set(host.name, host.certificate);
    if (host.authority !== undefined) authorities.set(host.authority.id, host.authority.pem);
  }
  for (const { pattern, certificate } of model.patterns) if (certificate !== undefined) servers.set(pattern, certificate);
  return {
    hosts,
    backends: new Map([...model.backends].map(([id, b]) => [id, backendText(b, endpointsOf(b))])),
    certificates: new Map([...authorities, ...[...model.certificates].map(([id, c]): [string, string] => [id, certificateText(c)])]),
    servers,
    users: new Map([...model.users].map(([id, text]) => [id, text.reveal()])),
    networks,
    general: JSON.stringify(general),
  };
}

function hostText(host: Host): HostText {
  let known = hostMemo.get(host);
  if (known === undefined) {
    const networks = new Map<string, string>();
    const routes = host.routes.map((route) => routeDocument(route, networks));
    const document: HostDocument = { name: host.name, ...host.settings, routes };
    known = { text: JSON.stringify(document), networks };
    hostMemo.set(host, known);
  }
  return known;
}

function routeDocument(route: Route, networks: Map<string, string>): RouteDocument {
  const profile = profileOf(route)?.id;
  return {
    kind: route.match.kind,
    path: route.match.text,
    ...(profile === undefined ? {} : { profile }),
    ...(route.target.kind === "backend" ? { backend: route.target.backend } : { fixed: route.target.fixed }),
    source: route.labels,
    features: withSharedLists(route.features, networks),
  };
}

interface BackendText {
  readonly endpoints: readonly EndpointDocument[];
  readonly text: string;
}

const backendMemo = new WeakMap<Backend, BackendText>();

export function backendText(backend: Backend, endpoints: readonly EndpointDocument[]): string {
  const known = backendMemo.get(backend);
  if (known?.endpoints === endpoints) return known.text;
  const document: BackendDocument = {
    ...backend.document,
    ...(endpoints.length === 0 ? {} : { endpoints }),
    ...(backend.id === names.defaultBackend && endpoints.length === 0 ? { builtIn404: true } : {}),
  };
  const text = JSON.stringify(document);
  backendMemo.set(backend, { endpoints, text });
  return text;
}

function certificateText(certificate: Certificate): string {
  return `${certificate.chain}\n${certificate.key.reveal()}\n`;
}

export interface GeneralOptions {
  readonly httpsPort: number;
  readonly healthPath: string;
  /** The https port is ssl_preread's. */
  readonly passthrough: boolean;
  /** Path of the socket on which the controller takes spans. */
  readonly spanSocket: string;
}

export function generalOf(basis: ConfBasis, options: GeneralOptions, patterns: readonly HostPattern[]): GeneralDocument {
  const { settings } = basis;
  const headers = [...basis.requestHeaders, ...basis.responseHeaders].map((h) => h.value);
  const snippets = [settings["http-snippet"], settings["server-snippet"], settings["location-snippet"]];
  const texts = [settings["log-format-upstream"], ...headers, ...snippets];
  const tracing = tracingOf(settings, options.spanSocket);
  return {
    useForwardedHeaders: settings["use-forwarded-headers"],
    useProxyProtocol: settings["use-proxy-protocol"],
    ...(settings["enable-ocsp"] ? { ocsp: true } : {}),
    httpRedirectCode: settings["http-redirect-code"],
    httpsPort: options.httpsPort,
    healthPath: options.healthPath,
    tries: settings["proxy-next-upstream-tries"],
    retriesRefused: retriesRefused(settings["proxy-next-upstream"], settings["proxy-next-upstream-tries"]),
    logVariables: routeVariables.filter((name) => texts.some((text) => namesVariable(text, name))),
    statusAllow: [...settings["nginx-status-ipv4-whitelist"], ...settings["nginx-status-ipv6-whitelist"]].filter(
      (c) => isIP(c.split("/")[0] ?? "") !== 0,
    ),
    ...(settings["ssl-reject-handshake"] ? { rejectHandshake: true as const } : {}),
    hostPatterns: patterns.map(({ pattern, host }) => ({ pattern, host })),
    ...accessOf(settings),
    ...(tracing === undefined ? {} : { tracing }),
    ...(chainsAddresses(settings, options.passthrough) ? { proxies: trustedPeers(settings, options.passthrough) } : {}),
  };
}

function accessOf(settings: Settings): { readonly access?: AccessDocument } {
  const lists: AccessDocument = {
    ...some("allow", settings["whitelist-source-range"]),
    ...some("deny", settings["denylist-source-range"]),
    ...some("blockCidrs", settings["block-cidrs"]),
    ...some("blockUserAgents", settings["block-user-agents"]),
    ...some("blockReferers", settings["block-referers"]),
  };
  return Object.keys(lists).length === 0 ? {} : { access: lists };
}

function some(key: keyof AccessDocument, list: readonly string[]): AccessDocument {
  return list.length === 0 ? {} : { [key]: list };
}
