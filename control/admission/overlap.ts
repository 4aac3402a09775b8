/** Does an Ingress claim a host and path that another one serves already? */

import type { Accepted } from "../build/accept.ts";
import { type ObjectRef, refKey } from "../model/ids.ts";
import type { Ingress } from "../source/kinds.ts";

export interface Overlap {
  readonly host: string;
  readonly path: string;
  readonly with: ObjectRef;
}

/** One path of an Ingress and the texts under which nginx's locations for it stood. */
interface Claim {
  readonly host: string;
  readonly path: string;
  readonly texts: readonly string[];
}

function claimsOf({ ingress, annotations }: Pick<Accepted, "ingress" | "annotations">): Claim[] {
  const claims: Claim[] = [];
  for (const rule of ingress.spec.rules) {
    for (const { path: written, pathType } of rule.paths ?? []) {
      const path = written === "" ? "/" : written;
      const plain = pathType !== "Exact" && annotations.values["use-regex"] !== true && !rewrites(annotations.values, path);
      const texts = plain && !path.endsWith("/") ? [path, `${path}/`] : [path];
      claims.push({ host: rule.host.toLowerCase(), path, texts });
    }
  }
  return claims;
}

function rewrites(values: Readonly<Record<string, unknown>>, path: string): boolean {
  const target = values["rewrite-target"];
  return target !== undefined && target !== "" && target !== path;
}

function catchAllOf({ ingress }: Accepted): Claim[] {
  const { defaultBackend, rules } = ingress.spec;
  return defaultBackend === undefined || rules.length > 0 ? [] : [{ host: "", path: "/", texts: ["/"] }];
}

/**
 * The first claim of the candidate that another Ingress holds. What the candidate's stored version claims already
 * collides only with older Ingresses: a conflict of long standing must not keep its winner from being edited.
 */
export function overlapOf(
  candidate: Accepted,
  others: readonly Accepted[],
  stored: Ingress | undefined,
  prefix: string,
): Overlap | undefined {
  const former = new Set(stored === undefined ? [] : claimsOf({ ingress: stored, annotations: candidate.annotations }).map(keyOf));
  const self = refKey(candidate.ref);
  const own = claimsOf(candidate);
  // `others` is sorted by age: what stands after the candidate is younger.
  let younger = false;
  for (const other of others) {
    if (refKey(other.ref) === self) {
      younger = true;
      continue;
    }
    if (mayShare(candidate.ingress, other.ingress, prefix)) continue;
    const taken = new Set(
      [...claimsOf(other), ...catchAllOf(other)].flatMap((claim) => claim.texts.map((text) => `${claim.host} ${text}`)),
    );
    const hit = own.find((claim) => taken.has(keyOf(claim)) && !(younger && former.has(keyOf(claim))));
    if (hit !== undefined) return { host: hit.host, path: hit.path, with: other.ref };
  }
  return undefined;
}

function keyOf(claim: Claim): string {
  return `${claim.host} ${claim.path}`;
}

/** A canary stands beside its primary. The annotation counts by being there, whatever it says. */
function mayShare(a: Ingress, b: Ingress, prefix: string): boolean {
  return `${prefix}/canary` in a.metadata.annotations || `${prefix}/canary` in b.metadata.annotations;
}

export function overlapText(overlap: Overlap): string {
  const { host, path } = overlap;
  return `host "${host === "" ? "_" : host}" and path "${path}" is already defined in ingress ${overlap.with.namespace}/${overlap.with.name}`;
}
