/** The ConfigMap's keys: one row each. A bad value is a finding and the default holds; other keys are not touched by it. */

import { settings } from "../features/settings.ts";
import type { Finding } from "../model/finding.ts";
import type { ObjectRef } from "../model/ids.ts";
import type { Directive } from "../model/model.ts";
import { closest } from "./closest.ts";
import type { Applies, Support } from "./feature.ts";
import type { Kind } from "./kinds.ts";

export type Context = "main" | "events" | "http";

export interface Setting<T> {
  readonly kind: Kind<T>;
  readonly default: T;
  /** Holds in place of the default when there is text that does not parse. */
  readonly invalid?: T;
  readonly applies: Exclude<Applies, "profile">;
  /** Printed once into that context of nginx.conf; undefined arguments leave the directive out. */
  readonly directive?: { readonly context: Context; readonly name: string; readonly args: (value: T) => readonly string[] | undefined };
  readonly support: Support;
  readonly note?: string;
  readonly doc: string;
  /** The value names an object of this kind whose data counts. */
  readonly reads?: "Secret" | "ConfigMap";
}

export type SettingRows = Readonly<Record<string, Setting<never>>>;

/** Fills in what most rows share. */
export function setting<T, const D extends T | undefined>(r: {
  readonly kind: Kind<T>;
  readonly default: D;
  readonly invalid?: T;
  readonly applies?: Exclude<Applies, "profile">;
  readonly directive?: { readonly context: Context; readonly name: string; readonly args: (value: T | D) => readonly string[] | undefined };
  readonly support?: Support;
  readonly note?: string;
  readonly doc: string;
  readonly reads?: "Secret" | "ConfigMap";
}): Setting<T | D> {
  return { support: "full", applies: r.directive === undefined ? "at-once" : "reload", ...r } as Setting<T | D>;
}

export type Settings = { readonly [K in keyof typeof settings]: (typeof settings)[K] extends Setting<infer T> ? T : never };

export interface ResolvedSettings {
  readonly values: Settings;
  /** Keys that the ConfigMap sets to a value that parses. */
  readonly given: ReadonlySet<string>;
  readonly findings: readonly Finding[];
}

const rows: Readonly<Record<string, Setting<unknown>>> = Object.fromEntries(
  Object.entries(settings as unknown as Record<string, Setting<unknown>>).sort(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)),
);
const byFold = new Map(Object.keys(rows).map((key) => [key.toLowerCase(), key]));

/** A note that several rows share is told once; "not built yet" is no such note. */
export function isShared(note: string): boolean {
  return !note.startsWith("Not built yet");
}

/** Reads the ConfigMap's data; keys fold case as they did. */
export function resolveSettings(data: Readonly<Record<string, string>>, about: ObjectRef): ResolvedSettings {
  const values: Record<string, unknown> = {};
  const given = new Set<string>();
  const findings: Finding[] = [];
  for (const [key, row] of Object.entries(rows)) values[key] = row.default;
  for (const key of Object.keys(data).sort()) {
    const name = byFold.get(key.toLowerCase());
    const row = name === undefined ? undefined : rows[name];
    if (name === undefined || row === undefined) {
      const near = closest(key, byFold.values());
      findings.push({
        code: "setting-unknown",
        about,
        at: `data.${key}`,
        text: `there is no such key${near === undefined ? "" : `; did you mean ${near}?`}`,
      });
      continue;
    }
    const parsed = row.kind.parse(data[key] ?? "");
    if (parsed.ok) {
      values[name] = parsed.value;
      given.add(name);
      if (parsed.dropped !== undefined) findings.push({ code: "setting-invalid", about, at: `data.${key}`, text: parsed.dropped });
    } else {
      const blank = (data[key] ?? "").trim() === "";
      const instead = row.invalid === undefined || blank ? `${name} keeps its default` : `see the documentation of ${name}`;
      if (row.invalid !== undefined && !blank) values[name] = row.invalid;
      findings.push({ code: "setting-invalid", about, at: `data.${key}`, text: `${parsed.reason}; ${instead}` });
    }
    const note = row.note ?? "the key has no effect here";
    if (row.support === "none" && !findings.some((f) => f.text === note && isShared(note))) {
      findings.push({ code: "annotation-unsupported", about, at: `data.${key}`, text: note });
    }
  }
  return { values: values as Settings, given, findings };
}

/** Without a ConfigMap. */
export const defaultSettings: Settings = resolveSettings({}, { kind: "ConfigMap", namespace: "", name: "" }).values;

/** The directives that the settings stand for, in the order of their keys. */
export function settingDirectives(values: Settings, context: Context): Directive[] {
  const out: Directive[] = [];
  for (const [key, row] of Object.entries(rows)) {
    if (row.directive?.context !== context) continue;
    const args = row.directive.args(values[key as keyof Settings]);
    if (args !== undefined) out.push({ name: row.directive.name, args });
  }
  return out;
}

export { rows as settingRows };
