/** Ingresses as they count: ours, checked, with resolved annotations; a refused update leaves the last good version in force. */

import { type Catalogue, type ResolvedAnnotations, type ResolveOptions, resolveAnnotations } from "../catalog/resolve.ts";
import type { Settings } from "../catalog/settings.ts";
import type { Finding } from "../model/finding.ts";
import { type ObjectRef, refKey } from "../model/ids.ts";
import type { Ingress } from "../source/kinds.ts";

export interface Accepted {
  readonly ingress: Ingress;
  readonly ref: ObjectRef;
  readonly annotations: ResolvedAnnotations;
}

export interface AcceptOptions extends ResolveOptions {
  readonly deepInspect: boolean;
}

/** Last good version of each Ingress by refKey, with the time it was first refused after (ISO), for the finding. */
export type LastGood = ReadonlyMap<string, Ingress>;

export interface Acceptance {
  readonly accepted: readonly Accepted[];
  readonly lastGood: LastGood;
  readonly findings: readonly Finding[];
}

const memo = new WeakMap<
  Ingress,
  { readonly settings: Settings; readonly options: ResolveOptions; readonly resolved: ResolvedAnnotations }
>();

/** Remembered for as long as the object lives and the settings are the same. */
export function resolvedAnnotations(
  ingress: Ingress,
  settings: Settings,
  catalogue: Catalogue,
  options: ResolveOptions,
): ResolvedAnnotations {
  const known = memo.get(ingress);
  if (known !== undefined && known.settings === settings && known.options === options) return known.resolved;
  const fresh = resolveAnnotations(ingress, settings, catalogue, options);
  memo.set(ingress, { settings, options, resolved: fresh });
  return fresh;
}

/** `ours` is sorted by age. */
export function accept(
  ours: readonly Ingress[],
  previous: LastGood,
  settings: Settings,
  catalogue: Catalogue,
  options: AcceptOptions,
): Acceptance {
  const accepted: Accepted[] = [];
  const lastGood = new Map<string, Ingress>();
  const findings: Finding[] = [];
  for (const ingress of ours) {
    const ref: ObjectRef = { kind: "Ingress", namespace: ingress.metadata.namespace, name: ingress.metadata.name };
    const annotations = resolvedAnnotations(ingress, settings, catalogue, options);
    findings.push(...annotations.findings);
    const danger = options.deepInspect ? dangerousText(ingress) : undefined;
    if (danger !== undefined) findings.push({ code: "object-malformed", about: ref, at: danger.at, text: danger.text });
    if (annotations.rejected === undefined && danger === undefined) {
      accepted.push({ ingress, ref, annotations });
      lastGood.set(refKey(ref), ingress);
      continue;
    }
    const old = previous.get(refKey(ref));
    if (old === undefined || old.metadata.uid !== ingress.metadata.uid) continue;
    const before = resolvedAnnotations(old, settings, catalogue, options);
    if (before.rejected !== undefined) continue;
    accepted.push({ ingress: old, ref, annotations: before });
    lastGood.set(refKey(ref), old);
  }
  return { accepted, lastGood, findings };
}

const dangerous: readonly RegExp[] = [
  /\balias\s[^;]*;/s,
  /\broot\s.*;/s,
  /\/etc\/(passwd|shadow|group|nginx|ingress-controller)/,
  /\/var\/run\/secrets/,
  /_by_lua/,
  /[\0-\x1f\x7f]/,
];

/** Text in hosts, paths or TLS fields that no honest Ingress holds (--deep-inspect). */
export function dangerousText(ingress: Ingress): { readonly at: string; readonly text: string } | undefined {
  const places: [string, string][] = [];
  ingress.spec.rules.forEach((rule, i) => {
    places.push([`spec.rules[${i}].host`, rule.host]);
    rule.paths?.forEach((p, j) => {
      places.push([`spec.rules[${i}].http.paths[${j}].path`, p.path]);
    });
  });
  ingress.spec.tls.forEach((tls, i) => {
    places.push([`spec.tls[${i}].secretName`, tls.secretName], ...tls.hosts.map((h): [string, string] => [`spec.tls[${i}].hosts`, h]));
  });
  for (const [at, text] of places) {
    const hit = dangerous.find((d) => d.test(text));
    if (hit !== undefined)
      return { at, text: `it holds forbidden text (${JSON.stringify(text.slice(0, 60))}); the Ingress is not taken over` };
  }
  return undefined;
}
