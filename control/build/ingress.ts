/** Accepted Ingresses → locations by host, in the shape that nginx users know: one winner per host, path and type. */

import type { Finding } from "../model/finding.ts";
import type { ObjectRef } from "../model/ids.ts";
import type { Ingress, IngressBackend } from "../source/kinds.ts";
import type { Accepted } from "./accept.ts";

export type PathType = "Exact" | "Prefix";

/** One location before precedence is worked out; `backend` undefined is the global default backend. */
export interface Location {
  readonly path: string;
  readonly pathType: PathType;
  /** Absent: the bare "/" of the catch-all, which no Ingress asked for. */
  readonly owner: Accepted | undefined;
  readonly backend: IngressBackend | undefined;
  readonly at: string;
  /** The "/" that every host has; the first explicit "/" replaces it. */
  readonly implicit: boolean;
  /** Default backend of an Ingress without rules: its redirect and rewrite annotations have no effect. */
  readonly fallback?: true;
}

export interface HostLocations {
  readonly name: string;
  /** The oldest Ingress of the host: its annotations hold for the implicit "/". */
  readonly first: Accepted | undefined;
  /** Ingresses of the host, oldest first. */
  readonly owners: readonly Accepted[];
  readonly locations: readonly Location[];
}

export interface PathOf {
  readonly host: string;
  readonly path: string;
  readonly pathType: PathType;
  readonly backend: IngressBackend;
  readonly at: string;
}

const hostName = /^(\*\.)?[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?(\.[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?)*$/;

interface Paths {
  readonly paths: readonly PathOf[];
  readonly findings: readonly Finding[];
}

const memo = new WeakMap<Ingress, Paths>();

/** Rules of one Ingress; hosts that are none are left out with a finding. */
export function pathsOf(ingress: Ingress, about: ObjectRef, findings: Finding[]): readonly PathOf[] {
  let known = memo.get(ingress);
  if (known === undefined) {
    known = readPaths(ingress, about);
    memo.set(ingress, known);
  }
  findings.push(...known.findings);
  return known.paths;
}

function readPaths(ingress: Ingress, about: ObjectRef): Paths {
  const out: PathOf[] = [];
  const findings: Finding[] = [];
  ingress.spec.rules.forEach((rule, i) => {
    if (!isHost(rule.host, `spec.rules[${i}].host`, about, findings)) return;
    rule.paths?.forEach((p, j) => {
      const at = `spec.rules[${i}].http.paths[${j}]`;
      const path = p.path === "" ? "/" : p.path;
      out.push({ host: rule.host.toLowerCase(), path, pathType: p.pathType === "Exact" ? "Exact" : "Prefix", backend: p.backend, at });
    });
  });
  return { paths: out, findings };
}

function isHost(host: string, at: string, about: ObjectRef, findings: Finding[]): boolean {
  if (host === "" || (host.length <= 253 && hostName.test(host.toLowerCase()))) return true;
  findings.push({ code: "host-invalid", about, at, text: `"${host}" is not a host name; the rule is left out` });
  return false;
}

class HostDraft {
  readonly owners: Accepted[] = [];
  readonly byKey = new Map<string, Location>();
  readonly name: string;
  readonly first: Accepted | undefined;

  constructor(name: string, first: Accepted | undefined) {
    this.name = name;
    this.first = first;
  }

  join(owner: Accepted | undefined): void {
    if (owner !== undefined && !this.owners.includes(owner)) this.owners.push(owner);
  }

  add(location: Location, findings: Finding[]): void {
    this.join(location.owner);
    const key = `${location.pathType} ${location.path}`;
    const there = this.byKey.get(key);
    if (there === undefined || (there.implicit && !location.implicit)) {
      this.byKey.set(key, location);
      return;
    }
    if (location.implicit || location.owner === undefined || there.owner === undefined || there.owner === location.owner) return;
    findings.push(conflict(this.name, location, location.owner.ref, there.owner.ref));
  }
}

function conflict(host: string, loser: Location, about: ObjectRef, winner: ObjectRef): Finding {
  return {
    code: "path-conflict",
    about,
    at: loser.at,
    text: `host "${host}" path "${loser.path}" (${loser.pathType}) belongs to the older Ingress ${winner.namespace}/${winner.name}`,
    also: [winner],
  };
}

/** Canary Ingresses are not among `accepted`: they never create hosts or locations. */
export function locationsByHost(accepted: readonly Accepted[], findings: Finding[]): Map<string, HostLocations> {
  const drafts = new Map<string, HostDraft>();
  const draftOf = (name: string, owner: Accepted | undefined): HostDraft => {
    let draft = drafts.get(name);
    if (draft === undefined) {
      draft = new HostDraft(name, owner);
      drafts.set(name, draft);
      const backend = owner?.ingress.spec.defaultBackend;
      draft.add({ path: "/", pathType: "Prefix", owner, backend, at: "spec.defaultBackend", implicit: true }, findings);
    }
    draft.join(owner);
    return draft;
  };
  draftOf("", undefined);
  for (const owner of accepted) {
    const { spec } = owner.ingress;
    for (const rule of spec.rules) {
      if (isHost(rule.host, "", owner.ref, [])) draftOf(rule.host.toLowerCase(), owner);
    }
    for (const p of pathsOf(owner.ingress, owner.ref, findings)) {
      draftOf(p.host, owner).add({ path: p.path, pathType: p.pathType, owner, backend: p.backend, at: p.at, implicit: false }, findings);
    }
    if (spec.defaultBackend !== undefined && spec.rules.length === 0) {
      draftOf("", owner).add(
        { path: "/", pathType: "Prefix", owner, backend: spec.defaultBackend, at: "spec.defaultBackend", implicit: false, fallback: true },
        findings,
      );
    }
  }
  const out = new Map<string, HostLocations>();
  for (const name of [...drafts.keys()].sort()) {
    const d = drafts.get(name) as HostDraft;
    out.set(name, { name, first: d.first, owners: d.owners, locations: [...d.byKey.values()] });
  }
  return out;
}
