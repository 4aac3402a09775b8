/** An Ingress that somebody wants to store → may it be, and what its owner should know. Builds only what it touches; changes nothing. */

import { type Accepted, dangerousText, type LastGood, resolvedAnnotations } from "../build/accept.ts";
import { type BuildOptions, type Built, build, catalogue } from "../build/build.ts";
import { isOurs } from "../build/class.ts";
import type { Settings } from "../catalog/settings.ts";
import type { ConfBasis } from "../model/conf-basis.ts";
import { type Finding, severityOf } from "../model/finding.ts";
import { type ObjectRef, refKey, refText } from "../model/ids.ts";
import type { Objects } from "../objects/objects.ts";
import { viewWith } from "../objects/objects-view.ts";
import { builtInParts, type ConfParts, ownersIn, partsOf } from "../plan/plan.ts";
import type { Ingress } from "../source/kinds.ts";
import { overlapOf, overlapText } from "./overlap.ts";

export interface AdmissionContext {
  readonly objects: Objects;
  readonly lastGood: LastGood;
  readonly options: BuildOptions;
}

export interface Verdict {
  /** Why it is refused; undefined: it is not. */
  readonly refusal: string | undefined;
  readonly warnings: readonly string[];
  /** Ours, and so counted in check_success or check_errors. */
  readonly counted: boolean;
  /** Ingresses that the build looked at; 0 where it was not needed. */
  readonly tested: number;
}

/** A regular expression of the Ingress and where it stands. */
export interface Expression {
  readonly at: string;
  readonly text: string;
}

/** A verdict of the build, and what nginx.conf would have to hold for it and PCRE to read; they may refuse that yet. */
export interface Checked extends Verdict {
  readonly expressions?: readonly Expression[];
  readonly parts?: ConfParts;
  readonly basis?: ConfBasis;
}

export const defaultPrefix = "nginx.ingress.kubernetes.io";

const removed = [
  "enable-influxdb",
  "influxdb-measurement",
  "influxdb-port",
  "influxdb-host",
  "influxdb-server-name",
  "secure-verify-ca-secret",
] as const;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const strictPath = /^\/[A-Za-z0-9._\-/]*$/;

/** What a regular expression can go wrong by. */
const fallible = /[\\?*+()[{]/;

/** Bytes. The API server stores no more, but not only the API server can reach this port. */
const annotationLimit = 256 * 1024;

export function checkIngress(ingress: Ingress, context: AdmissionContext): Checked {
  const { objects, options } = context;
  const badPaths = badPathsOf(ingress);
  const early = [...deprecated(ingress, options.annotations.prefix), ...badPaths];
  const refused = (refusal: string): Verdict => ({ refusal, warnings: early, counted: false, tested: 0 });
  if (annotationSize(ingress) > annotationLimit) return refused(`the annotations are longer than ${annotationLimit} bytes`);
  const danger = options.annotations.deepInspect ? dangerousText(ingress) : undefined;
  if (danger !== undefined) {
    return refused(
      `invalid object ${ingress.metadata.namespace}/${ingress.metadata.name}: ${danger.at}: invalid value found: ${danger.text}`,
    );
  }
  if (!isOurs(ingress, { ...options, disableCatchAll: false }, objects).ours) {
    return { refusal: undefined, warnings: early, counted: false, tested: 0 };
  }
  if (options.disableCatchAll && ingress.spec.defaultBackend !== undefined) {
    return refused(
      "this deployment does not allow catch-all Ingresses (--disable-catch-all): remove spec.defaultBackend, or have the flag taken off",
    );
  }
  const built = build(viewWith(objects, ingress), context.lastGood, options);
  const simple = textProblem(ingress, built.settings.values, options.annotations.prefix, badPaths);
  if (simple !== undefined) return refused(simple);
  return verdictOf(ingress, built, context, early);
}

/** What can be said from the text of the Ingress alone. */
function textProblem(ingress: Ingress, settings: Settings, prefix: string, badPaths: readonly string[]): string | undefined {
  if (!uuid.test(ingress.metadata.uid)) return "the Ingress has no valid UID";
  if (settings["strict-validate-path-type"] && badPaths.length > 0) return `the Ingress contains invalid paths: ${badPaths.join("; ")}`;
  for (const key of Object.keys(ingress.metadata.annotations).sort()) {
    if (prefix !== defaultPrefix && key.startsWith(`${defaultPrefix}/`)) {
      return `annotation ${key}: this deployment reads annotations with the prefix ${prefix}/ instead of ${defaultPrefix}/`;
    }
    if (!settings["allow-snippet-annotations"] && key.endsWith("-snippet")) {
      return `annotation ${key} cannot be used: snippets are disabled by the administrator`;
    }
  }
  return undefined;
}

function verdictOf(ingress: Ingress, built: Built, context: AdmissionContext, early: readonly string[]): Checked {
  const { objects, options } = context;
  const ref: ObjectRef = { kind: "Ingress", namespace: ingress.metadata.namespace, name: ingress.metadata.name };
  const findings = built.model.findings.filter((finding) => refKey(finding.about) === refKey(ref));
  const displaced = built.model.findings.filter((f) => f.code === "alias-conflict" && f.also?.some((o) => refKey(o) === refKey(ref)));
  const others = displaced.map((f) => `${refText(f.about)} loses an alias: ${f.text}`);
  const base = { warnings: [...early, ...findings.map(warningText), ...others], counted: true, tested: built.accepted.length };
  const own = built.accepted.find((accepted) => accepted.ingress === ingress);
  if (own === undefined) {
    const { rejected } = resolvedAnnotations(ingress, built.settings.values, catalogue, options.annotations);
    // What refuses it is the answer's message; as a warning it would be said twice.
    const warnings = [...early, ...findings.filter((f) => severityOf(f) !== "error").map(warningText)];
    return { ...base, warnings, refusal: rejected ?? "the Ingress is not taken over" };
  }
  const stored = objects.get(ref) as Ingress | undefined;
  const overlap = overlapOf(own, built.accepted, stored, options.annotations.prefix);
  const expressions = [...aliasExpressions(own, options.annotations.prefix), ...pathExpressions(built, ref)].filter((e) =>
    fallible.test(e.text),
  );
  if (overlap === undefined) return { ...base, refusal: undefined, parts: ownParts(built, ref), expressions, basis: built.basis };
  const warnings = [...early, ...findings.filter((f) => f.code !== "path-conflict").map(warningText)];
  return { ...base, warnings, refusal: overlapText(overlap) };
}

/** What its own routes need of nginx.conf, besides what is always there. */
function ownParts({ model }: Built, ref: ObjectRef): ConfParts {
  const { profiles, servers, streams } = partsOf(model);
  const ownersOf = ownersIn(model);
  const own = <T>(parts: ReadonlyMap<string, T>) => {
    const added = [...parts].filter(([key]) => !builtInParts.profiles.has(key));
    return new Map(added.filter(([key]) => ownersOf(key).some((owner) => refKey(owner) === refKey(ref))));
  };
  return { profiles: own(profiles), servers: own(servers), streams: own(streams) };
}

function aliasExpressions({ annotations }: Accepted, prefix: string): Expression[] {
  const aliases = ((annotations.values["server-alias"] as readonly string[] | undefined) ?? []).filter((name) => name.startsWith("~"));
  return aliases.map((name) => ({ at: `annotation ${prefix}/server-alias`, text: name.slice(1) }));
}

function pathExpressions({ model }: Built, ref: ObjectRef): Expression[] {
  const out = new Map<string, Expression>();
  for (const { match, source, features } of model.hosts.flatMap((host) => host.routes)) {
    if (source === undefined || refKey(source) !== refKey(ref)) continue;
    const texts = [...(match.kind === "regex" ? [match.text] : []), ...(features.rewrite === undefined ? [] : [features.rewrite.from])];
    for (const text of texts) out.set(text, { at: `path ${match.text}`, text });
  }
  return [...out.values()];
}

function warningText(finding: Finding): string {
  return finding.at === "" ? finding.text : `${finding.at}: ${finding.text}`;
}

function annotationSize(ingress: Ingress): number {
  const texts = Object.entries(ingress.metadata.annotations).flat();
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function deprecated(ingress: Ingress, prefix: string): string[] {
  return removed
    .map((name) => `${prefix}/${name}`)
    .filter((key) => key in ingress.metadata.annotations)
    .map((key) => `annotation ${key} is deprecated`);
}

/** Paths that hold more than an Exact or Prefix path may. */
function badPathsOf(ingress: Ingress): string[] {
  return ingress.spec.rules.flatMap((rule) =>
    (rule.paths ?? [])
      .filter(({ path, pathType }) => path !== "" && (pathType === "Exact" || pathType === "Prefix") && !strictPath.test(path))
      .map(({ path, pathType }) => `path ${path} cannot be used with pathType ${pathType}`),
  );
}
