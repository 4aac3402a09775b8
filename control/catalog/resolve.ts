/** Annotations of one Ingress → values of every row, and findings. Pure; the caller memoises. */

import type { Finding } from "../model/finding.ts";
import type { ObjectRef } from "../model/ids.ts";
import type { Ingress } from "../source/kinds.ts";
import { closest } from "./closest.ts";
import type { AnyRow, Denied, Feature, Risk } from "./feature.ts";
import { isShared, type Settings } from "./settings.ts";

/** Prefix of the annotations that the retired controller did not have; their rows carry it in the name. */
export const ownPrefix = "sluice";

export interface ResolveOptions {
  /** e.g. "nginx.ingress.kubernetes.io". */
  readonly prefix: string;
  /** --enable-annotation-validation: false takes refusals of a whole Ingress for defaults. */
  readonly validate: boolean;
}

export interface ResolvedAnnotations {
  /** By row name; undefined where nothing is set and there is no default. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Rows that the Ingress itself sets to a value that parses. */
  readonly given: ReadonlySet<string>;
  /** All locations of the Ingress answer 503. */
  readonly denied?: Denied;
  /** The Ingress as it stands is not taken over. */
  readonly rejected?: string;
  readonly findings: readonly Finding[];
}

export interface Catalogue {
  readonly rows: ReadonlyMap<string, AnyRow>;
  /** Alias → row name. */
  readonly aliases: ReadonlyMap<string, string>;
}

const ranks: Readonly<Record<Risk, number>> = { low: 0, medium: 1, high: 2, critical: 3 };

/** Puts the rows of all features into one table; a name declared twice is a bug and throws. */
export function catalogueOf(features: readonly Feature[]): Catalogue {
  const rows = new Map<string, AnyRow>();
  const aliases = new Map<string, string>();
  for (const feature of features) {
    for (const [name, row] of Object.entries(feature.rows)) {
      if (rows.has(name)) throw new Error(`annotation ${name} is declared twice`);
      rows.set(name, row);
      for (const alias of row.aliases ?? []) aliases.set(alias, name);
    }
  }
  return { rows, aliases };
}

export function resolveAnnotations(
  ingress: Ingress,
  settings: Settings,
  catalogue: Catalogue,
  options: ResolveOptions,
): ResolvedAnnotations {
  const about: ObjectRef = { kind: "Ingress", namespace: ingress.metadata.namespace, name: ingress.metadata.name };
  const own = ownAnnotations(ingress, options.prefix);
  const state: State = { about, options, own, values: defaults(catalogue, settings), given: new Set(), findings: [] };
  for (const [key, text] of own) {
    const word = settings["annotation-value-word-blocklist"].find((w) => w.trim() !== "" && text.includes(w.trim()));
    if (word !== undefined) reject(state, key, `its value contains the blocked word "${word.trim()}"`, "annotation-refused");
  }
  for (const [key, text] of own) {
    const name = catalogue.aliases.get(key) ?? key;
    const row = catalogue.rows.get(name);
    if (row === undefined) unknown(state, key, catalogue);
    else if (ranks[row.risk] > ranks[settings["annotations-risk-level"]]) {
      reject(state, key, `its risk is ${row.risk}, more than annotations-risk-level allows`, "annotation-refused");
    } else if (name === key || (own.get(name) ?? "") === "") read(state, name, key, row, text, settings);
  }
  return {
    values: state.values,
    given: state.given,
    findings: state.findings,
    ...(state.denied === undefined ? {} : { denied: state.denied }),
    ...(state.rejected === undefined ? {} : { rejected: state.rejected }),
  };
}

interface State {
  readonly about: ObjectRef;
  readonly options: ResolveOptions;
  /** Text by name without the prefix. */
  readonly own: ReadonlyMap<string, string>;
  readonly values: Record<string, unknown>;
  readonly given: Set<string>;
  readonly findings: Finding[];
  denied?: Denied;
  rejected?: string;
}

function ownAnnotations(ingress: Ingress, prefix: string): Map<string, string> {
  const out = new Map<string, string>();
  const start = `${prefix}/`;
  const own = `${ownPrefix}/`;
  for (const [key, text] of Object.entries(ingress.metadata.annotations).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (key.startsWith(own)) out.set(key, text);
    else if (key.startsWith(start)) out.set(key.slice(start.length), text);
  }
  return out;
}

function defaults(catalogue: Catalogue, settings: Settings): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, row] of catalogue.rows) values[name] = defaultOf(row, settings);
  return values;
}

/** A profile row's default is nginx's http level, which the ConfigMap sets: undefined means "inherit". */
function defaultOf(row: AnyRow, settings: Settings): unknown {
  if (row.configMapKey === undefined || row.applies === "profile") return row.default;
  return settings[row.configMapKey as keyof Settings] ?? row.default;
}

function read(state: State, name: string, key: string, row: AnyRow, text: string, settings: Settings): void {
  if (row.support === "none") {
    // What has no effect can still be wrong, and keeps the Ingress out as it did.
    if (row.onInvalid === "reject" && state.options.validate && text.trim() !== "") {
      const parsed = row.kind.parse(text);
      if (!parsed.ok) {
        reject(state, key, parsed.reason, "annotation-invalid");
        return;
      }
    }
    const note = row.note ?? "it has no effect here";
    if (!state.findings.some((f) => f.text === note && isShared(note))) report(state, "annotation-unsupported", key, note);
    if (row.guards === true) deny(state, key, "it protects the location and cannot be honoured");
    return;
  }
  if (text.trim() === "") return;
  const parsed = (state.options.validate ? row.kind.parse : (row.unvalidated?.parse ?? row.kind.unchecked ?? row.kind.parse))(text);
  if (parsed.ok) {
    state.values[name] = parsed.value;
    state.given.add(name);
    return;
  }
  if (row.onInvalid === "reject" && state.options.validate) reject(state, key, parsed.reason, "annotation-invalid");
  else if ((row.onInvalid === "deny" || row.guards === true) && hasNeeded(state, row)) {
    report(state, "annotation-invalid", key, `${parsed.reason}; the locations of this Ingress answer 503`);
    deny(state, key, parsed.reason);
  } else {
    if (row.invalid !== undefined) state.values[name] = row.invalid;
    report(state, "annotation-invalid", key, `${parsed.reason}; ${fallback(row, settings)}`);
  }
}

function hasNeeded(state: State, row: AnyRow): boolean {
  return row.needs === undefined || row.needs.some((name) => (state.own.get(name) ?? "").trim() !== "");
}

function fallback(row: AnyRow, settings: Settings): string {
  if (row.invalid !== undefined) return `${JSON.stringify(row.invalid)} is used`;
  const value = defaultOf(row, settings);
  return value === undefined || typeof value === "object" ? "the annotation is ignored" : `the default ${JSON.stringify(value)} is used`;
}

function unknown(state: State, key: string, catalogue: Catalogue): void {
  const near = closest(key, [...catalogue.rows.keys(), ...catalogue.aliases.keys()]);
  report(state, "annotation-unknown", key, `there is no such annotation${near === undefined ? "" : `; did you mean ${near}?`}`);
}

function fullName({ options }: State, key: string): string {
  return key.startsWith(`${ownPrefix}/`) ? key : `${options.prefix}/${key}`;
}

function deny(state: State, annotation: string, reason: string): void {
  state.denied ??= { annotation, code: "location-denied", reason };
}

function reject(state: State, key: string, reason: string, code: Finding["code"]): void {
  state.rejected ??= `annotation ${fullName(state, key)}: ${reason}`;
  report(state, code, key, `${reason}; the Ingress is not taken over, its last good version stays`);
}

function report(state: State, code: Finding["code"], key: string, text: string): void {
  state.findings.push({ code, about: state.about, at: `metadata.annotations[${fullName(state, key)}]`, text });
}
