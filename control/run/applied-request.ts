/** The question "is this served already?", as asked on /applied. */

import type { ObjectRef } from "../model/ids.ts";

export interface AppliedRequest {
  /** Each must have been read with exactly that resourceVersion. */
  readonly objects: readonly (ObjectRef & { readonly resourceVersion: string })[];
  readonly gone: readonly ObjectRef[];
}

export type AppliedAnswer = { readonly done: true } | { readonly done: false; readonly missing: readonly string[] };

export type ParsedApplied = { readonly request: AppliedRequest; readonly timeoutMs: number } | { readonly error: string };

type ScopeOf = (kind: string) => "namespaced" | "cluster" | undefined;

const defaultTimeoutMs = 10_000;
/** Below the server's own limit for one answer. */
const longestMs = 290_000;

/** object=Kind/namespace/name@resourceVersion and gone=Kind/namespace/name, both repeatable; timeout=10s or 500ms. */
export function parseApplied(fields: URLSearchParams, scopeOf: ScopeOf): ParsedApplied {
  const objects: AppliedRequest["objects"][number][] = [];
  const gone: ObjectRef[] = [];
  for (const text of fields.getAll("object")) {
    const at = text.lastIndexOf("@");
    const ref = at === -1 ? undefined : refOf(text.slice(0, at), scopeOf);
    if (ref === undefined || at === text.length - 1)
      return { error: `object must be Kind/namespace/name@resourceVersion of a followed kind: ${text}` };
    objects.push({ ...ref, resourceVersion: text.slice(at + 1) });
  }
  for (const text of fields.getAll("gone")) {
    const ref = refOf(text, scopeOf);
    if (ref === undefined) return { error: `gone must be Kind/namespace/name of a followed kind: ${text}` };
    gone.push(ref);
  }
  for (const name of fields.keys()) {
    if (!["object", "gone", "timeout"].includes(name)) return { error: `unknown parameter ${name}` };
  }
  const timeoutMs = timeoutOf(fields.get("timeout"));
  return timeoutMs === undefined ? { error: "timeout must be a number of s or ms, e.g. 10s" } : { request: { objects, gone }, timeoutMs };
}

function refOf(text: string, scopeOf: ScopeOf): ObjectRef | undefined {
  const parts = text.split("/");
  const [kind, namespace, name] = parts;
  if (parts.length !== 3 || kind === undefined || namespace === undefined || name === undefined || name === "") return undefined;
  const scope = scopeOf(kind);
  if (scope === undefined) return undefined;
  if (scope === "cluster") return namespace === "" ? { kind, namespace, name } : undefined;
  return { kind, namespace: namespace === "" ? "default" : namespace, name };
}

function timeoutOf(text: string | null): number | undefined {
  if (text === null) return defaultTimeoutMs;
  const match = /^(\d{1,9})(ms|s)$/.exec(text);
  return match === null ? undefined : Math.min(longestMs, Number(match[1]) * (match[2] === "s" ? 1000 : 1));
}
