/** Puts the data of the Secrets and ConfigMaps that settings name into their values. */

import type { Finding } from "../model/finding.ts";
import type { ObjectRef } from "../model/ids.ts";
import type { Look } from "./feature.ts";
import type { NamedObject } from "./kinds.ts";
import { type ResolvedSettings, type Settings, settingRows } from "./settings.ts";

interface Filled {
  /** The objects themselves: a changed one is another. */
  readonly objects: readonly unknown[];
  readonly resolved: ResolvedSettings;
}

const memo = new WeakMap<ResolvedSettings, Filled>();
const reading = Object.entries(settingRows).flatMap(([key, row]) => (row.reads === undefined ? [] : [{ key, kind: row.reads }]));

/** The same object comes back as long as nothing changes: others memoise by the identity of its values. */
export function withNamedObjects(resolved: ResolvedSettings, about: ObjectRef, look: Look): ResolvedSettings {
  const wanted = reading.flatMap(({ key, kind }) => {
    const value = resolved.values[key as keyof Settings] as NamedObject | undefined;
    if (value === undefined) return [];
    const namespace = value.namespace ?? about.namespace;
    const object = kind === "Secret" ? look.secret(namespace, value.name) : look.configMap(namespace, value.name);
    return [{ key, kind, namespace, name: value.name, object }];
  });
  if (wanted.length === 0) return resolved;
  const objects = wanted.map((w) => w.object);
  const known = memo.get(resolved);
  if (known?.objects.every((o, i) => o === objects[i])) return known.resolved;
  const findings: Finding[] = [];
  const values: Record<string, unknown> = { ...resolved.values };
  for (const { key, kind, namespace, name, object } of wanted) {
    if (object === undefined) {
      const text = `there is no ${kind} ${namespace}/${name}; ${key} has no effect`;
      findings.push({ code: "reference-missing", about, at: `data.${key}`, text, also: [{ kind, namespace, name }] });
    }
    values[key] = { namespace, name, data: object?.data } satisfies NamedObject;
  }
  const filled: ResolvedSettings = { ...resolved, values: values as Settings, findings: [...resolved.findings, ...findings] };
  memo.set(resolved, { objects, resolved: filled });
  return filled;
}
