/** Model → Plan: documents, and what nginx.conf must hold for them. */

import type { EndpointDocument } from "../../lua-src/wire.ts";
import { snippetKey } from "../features/snippets.ts";
import type { ConfBasis } from "../model/conf-basis.ts";
import type { ObjectRef } from "../model/ids.ts";
import type { Host, Model } from "../model/model.ts";
import type { Passthrough } from "../model/stream.ts";
import type { Profile, ServerBlock } from "./conf-view.ts";
import type { Documents } from "./documents.ts";
import { builtInProfiles, profileOf } from "./profiles.ts";
import { type EndpointsOf, streamEndpoints, streamParts } from "./stream.ts";

/** What nginx.conf holds because of the users' objects. */
export interface ConfParts {
  /** By id: those that routes name and the built-in ones. */
  readonly profiles: ReadonlyMap<string, Profile>;
  /** By "server KEY". */
  readonly servers: ReadonlyMap<string, ServerBlock>;
  /** Text by "stream KEY", in order. */
  readonly streams: ReadonlyMap<string, string>;
}

/** What is always there. */
export const builtInParts: ConfParts = {
  profiles: new Map(builtInProfiles().map((p) => [p.id, p])),
  servers: new Map(),
  streams: new Map(),
};

export interface Plan {
  readonly documents: Documents;
  readonly basis: ConfBasis;
  readonly parts: ConfParts;
  /** Of TCP and UDP services, by stream key; empty where they stand in the conf. */
  readonly streamEndpoints: ReadonlyMap<string, readonly EndpointDocument[]>;
  /** Hosts whose TLS is passed through; empty where they stand in the conf. */
  readonly passthroughs: readonly Passthrough[];
  /** Whose the part with this id or key is, for findings. */
  readonly ownersOf: (key: string) => readonly ObjectRef[];
  /** The Ingress that a path of a host comes from. */
  readonly ownerOf: (host: string, path: string) => ObjectRef | undefined;
  /** Ids and keys of the parts that a host's document counts on. */
  readonly needsOf: (host: string) => readonly string[];
}

/** `live`: endpoints of TCP and UDP services and passed-through hosts are looked up for each connection. */
export function planOf(
  { model, basis }: { readonly model: Model; readonly basis: Omit<ConfBasis, "streams"> },
  documents: Documents,
  live: boolean,
  endpointsOf: EndpointsOf,
): Plan {
  const { streams, passthroughs } = model;
  return {
    documents,
    parts: partsOf(model),
    ownersOf: ownersIn(model),
    ownerOf: ownerIn(model),
    needsOf: needsIn(model),
    basis: { ...basis, streams: streamParts(streams, passthroughs, live, endpointsOf) },
    streamEndpoints: live ? streamEndpoints(streams, endpointsOf) : new Map(),
    passthroughs: live ? passthroughs : [],
  };
}

export function partsOf(model: Model): ConfParts {
  return {
    profiles: profilesOf(model),
    servers: serversOf(model),
    streams: new Map(model.streamSnippets.map((t) => [`stream ${snippetKey(t)}`, t])),
  };
}

function profilesOf(model: Model): Map<string, Profile> {
  const out = new Map<string, Profile>(builtInProfiles().map((p) => [p.id, p]));
  for (const host of model.hosts) {
    for (const route of host.routes) {
      const profile = profileOf(route);
      if (profile !== undefined) out.set(profile.id, profile);
    }
  }
  return out;
}

/** Hosts with the same text share a block. */
function serversOf(model: Model): Map<string, ServerBlock> {
  const texts = new Map<string, string>();
  for (const host of model.hosts) if (host.snippet !== undefined && host.name !== "") texts.set(host.name, host.snippet);
  const names = new Map<string, { readonly text: string; readonly names: string[] }>();
  for (const host of model.hosts) {
    const text = texts.get(host.settings.aliasOf ?? host.name);
    if (text === undefined) continue;
    const key = `server ${snippetKey(text)}`;
    const block = names.get(key) ?? { text, names: [] };
    names.set(key, block);
    block.names.push(serverName(host));
  }
  return new Map([...names].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, b]) => [key, { names: b.names, snippet: b.text }]));
}

/** nginx's own "*.x" means any depth; a wildcard host is one label. */
function serverName({ name }: Host): string {
  return name.startsWith("*.") ? `~^[\\w-]+${name.slice(1).replaceAll(".", "\\.")}$` : name;
}

function needsIn(model: Model): Plan["needsOf"] {
  const hosts = new Map(model.hosts.map((host) => [host.name, host]));
  return (name) => {
    const host = hosts.get(name);
    if (host === undefined) return [];
    const snippet = host.snippet ?? hosts.get(host.settings.aliasOf ?? name)?.snippet;
    const needs = new Set(snippet === undefined || name === "" ? [] : [`server ${snippetKey(snippet)}`]);
    for (const route of host.routes) {
      const profile = profileOf(route);
      for (const key of profile === undefined ? [] : [profile.id, ...(profile.requires ?? [])]) needs.add(key);
    }
    return [...needs];
  };
}

function ownerIn(model: Model): Plan["ownerOf"] {
  return (name, path) => {
    const host = model.hosts.find((h) => h.name === name);
    return host?.routes.find(({ match }) => match.text === path)?.source;
  };
}

export function ownersIn(model: Model): Plan["ownersOf"] {
  return (key) => {
    const out = new Map<string, ObjectRef>();
    for (const route of model.hosts.flatMap((h) => h.routes)) {
      const profile = profileOf(route);
      if (route.source === undefined || profile === undefined) continue;
      if (profile.id === key || profile.requires?.includes(key)) out.set(JSON.stringify(route.source), route.source);
    }
    return [...out.values()];
  };
}
