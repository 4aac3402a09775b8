/**
 * Locations of a host → matches in the order and with the meaning that nginx gives them: exact, then longest prefix;
 * or, once one location of the host uses a regular expression or a rewrite, all of them as expressions, longest first.
 */

import type { Finding } from "../model/finding.ts";
import type { Match } from "../model/model.ts";
import type { Location } from "./ingress.ts";

export interface Placed {
  readonly match: Match;
  readonly location: Location;
  /** Answer with a redirect to this path ("/foo" where only "/foo/" is served). */
  readonly slash?: string;
}

/** The rewrite target does something: it is set and differs from the path. */
export function effectiveRewrite(location: Location): string | undefined {
  if (location.fallback === true) return undefined;
  const target = location.owner?.annotations.values["rewrite-target"] as string | undefined;
  return target === undefined || target === "" || target === location.path ? undefined : target;
}

function usesRegex(location: Location): boolean {
  return (
    (location.fallback !== true && location.owner?.annotations.values["use-regex"] === true) || effectiveRewrite(location) !== undefined
  );
}

export function isRegexHost(locations: readonly Location[]): boolean {
  return locations.some(usesRegex);
}

/** Longest path first, then path text descending. */
function byLength(a: Location, b: Location): number {
  if (a.path.length !== b.path.length) return b.path.length - a.path.length;
  return a.path === b.path ? 0 : a.path > b.path ? -1 : 1;
}

export function place(host: string, locations: readonly Location[], findings: Finding[]): Placed[] {
  const sorted = [...locations].sort(byLength);
  return isRegexHost(locations) ? sorted.map(asRegex) : asPlain(host, sorted, findings);
}

function asRegex(location: Location): Placed {
  const literal = /^[A-Za-z0-9/_~-]*$/.test(location.path);
  return { match: { kind: literal ? "iprefix" : "regex", text: location.path }, location };
}

function asPlain(host: string, sorted: readonly Location[], findings: Finding[]): Placed[] {
  const exact = new Map<string, Placed>();
  const prefix = new Map<string, Placed>();
  for (const location of sorted) {
    if (location.pathType === "Exact") put(exact, location.path, location, host, findings);
  }
  for (const location of sorted) {
    if (location.pathType !== "Prefix") continue;
    const key = location.path.endsWith("/") ? location.path : `${location.path}/`;
    put(prefix, key, location, host, findings);
    if (location.path !== "/" && !exact.has(location.path)) {
      exact.set(location.path, { match: { kind: "exact", text: location.path }, location });
    }
  }
  for (const [key, placed] of prefix) {
    const bare = key.slice(0, -1);
    if (key !== "/" && !exact.has(bare)) {
      exact.set(bare, { match: { kind: "exact", text: bare }, location: placed.location, slash: key });
    }
  }
  return [...exact.values(), ...[...prefix.values()].sort((a, b) => b.match.text.length - a.match.text.length)];
}

function put(map: Map<string, Placed>, key: string, location: Location, host: string, findings: Finding[]): void {
  const kind = location.pathType === "Exact" ? "exact" : "prefix";
  const there = map.get(key);
  if (there === undefined) {
    map.set(key, { match: { kind, text: key }, location });
    return;
  }
  // "/foo" and "/foo/" as prefixes are one match; nginx would refuse the second.
  const winner = there.location.owner;
  if (location.owner === undefined || winner === undefined || winner === location.owner) return;
  findings.push({
    code: "path-conflict",
    about: location.owner.ref,
    at: location.at,
    text: `host "${host}" path "${location.path}" covers the same addresses as "${there.location.path}" of Ingress ${winner.ref.namespace}/${winner.ref.name}`,
    also: [winner.ref],
  });
}
