/** add-headers and proxy-set-headers: ConfigMaps that the main one names, as headers for every answer and every upstream. */

import type { RefText } from "../catalog/kinds.ts";
import { variableProblem, variablesMadeBy } from "../catalog/nginx-variables.ts";
import type { Settings } from "../catalog/settings.ts";
import type { GlobalHeader } from "../model/conf-basis.ts";
import type { Finding } from "../model/finding.ts";
import type { ObjectRef } from "../model/ids.ts";
import type { RecordingLook } from "../objects/references.ts";
import type { ConfigMap } from "../source/kinds.ts";

interface Headers {
  readonly list: readonly GlobalHeader[];
  readonly findings: readonly Finding[];
}

const none: readonly GlobalHeader[] = [];
/** By settings, whose snippets may make variables, and by the ConfigMap. */
const memo = new WeakMap<Settings, WeakMap<ConfigMap, Headers>>();

/** The same list as long as the ConfigMap is the same object. */
export function globalHeaders(
  key: "add-headers" | "proxy-set-headers",
  settings: Settings,
  main: ObjectRef,
  look: RecordingLook,
  findings: Finding[],
): readonly GlobalHeader[] {
  const ref: RefText | undefined = settings[key];
  if (ref === undefined) return none;
  const at = `data.${key}`;
  if (ref.namespace === undefined) {
    findings.push({ code: "reference-missing", about: main, at, text: `"${ref.name}" names no namespace; no header is added` });
    return none;
  }
  const object = look.configMap(ref.namespace, ref.name);
  if (object === undefined) {
    const text = `there is no ConfigMap ${ref.namespace}/${ref.name}; no header is added`;
    findings.push({ code: "reference-missing", about: main, at, text });
    return none;
  }
  const known = memo.get(settings) ?? new WeakMap<ConfigMap, Headers>();
  memo.set(settings, known);
  let headers = known.get(object);
  if (headers === undefined) {
    headers = readHeaders(object, variablesOf(settings));
    known.set(object, headers);
  }
  findings.push(...headers.findings);
  return headers.list;
}

function variablesOf(settings: Settings): ReadonlySet<string> {
  const snippets = ["main-snippet", "http-snippet", "server-snippet", "location-snippet"] as const;
  return new Set(snippets.flatMap((key) => variablesMadeBy(settings[key])));
}

function readHeaders(object: ConfigMap, variables: ReadonlySet<string>): Headers {
  const list: GlobalHeader[] = [];
  const findings: Finding[] = [];
  const about: ObjectRef = { kind: "ConfigMap", namespace: object.metadata.namespace, name: object.metadata.name };
  for (const name of Object.keys(object.data).sort()) {
    const value = object.data[name] ?? "";
    const problem = headerProblem(name, value, variables);
    if (problem === undefined) list.push({ name, value });
    else findings.push({ code: "setting-invalid", about, at: `data.${name}`, text: `${problem}; the header is left out` });
  }
  return { list, findings };
}

function headerProblem(name: string, value: string, variables: ReadonlySet<string>): string | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(name)) return `"${name}" is no header name`;
  if (/[\0-\x1f\x7f]/.test(value)) return "its value holds a line break or another control character";
  return variableProblem(value, variables);
}
