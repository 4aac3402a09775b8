/** Documents of one manifest file → the objects it claims to define, and findings about what cannot be read. */

import type { Finding } from "../model/finding.ts";
import { refKey } from "../model/ids.ts";
import { endpointSlicesOf } from "./endpoints.ts";
import { kindRows, reduceObject } from "./kinds.ts";
import { type ManifestDocument, readManifestText } from "./manifest-text.ts";
import type { KindName, KubeObject } from "./source.ts";

/** A definition of an object; without `object` it is malformed, and what the object said before holds. */
export interface Claim {
  readonly key: string;
  readonly object?: KubeObject;
}

export interface Manifest {
  readonly claims: readonly Claim[];
  readonly findings: readonly Finding[];
  /** False: the text could not be parsed at all. */
  readonly readable: boolean;
}

interface Reading {
  readonly file: string;
  readonly claims: Claim[];
  readonly findings: Finding[];
}

interface Header {
  readonly apiVersion: string;
  readonly kind: string;
}

/** file: the path as findings show it. */
export function readManifest(file: string, text: string): Manifest {
  const content = readManifestText(file, text);
  if (content.kind === "unreadable") {
    return { claims: [], findings: [fileFinding(file, content.at, content.text)], readable: false };
  }
  const reading: Reading = { file, claims: [], findings: [] };
  for (const document of content.documents) readValue(reading, document, undefined);
  return { claims: reading.claims, findings: reading.findings, readable: true };
}

export function fileFinding(file: string, at: string, text: string): Finding {
  return { code: "file-unreadable", about: { kind: "File", namespace: "", name: file }, at, text };
}

function readValue(reading: Reading, document: ManifestDocument, inherited: Header | undefined): void {
  const { value } = document;
  if (value === null || value === undefined) return;
  if (typeof value !== "object" || Array.isArray(value)) {
    malformed(reading, document.at, "is not a Kubernetes object");
    return;
  }
  const raw = value as Readonly<Record<string, unknown>>;
  const kind = raw.kind ?? inherited?.kind;
  const apiVersion = raw.apiVersion ?? inherited?.apiVersion;
  if (typeof kind !== "string" || typeof apiVersion !== "string") {
    // A kustomization may leave both out.
    if (!/(^|\/)kustomization\.ya?ml$/.test(reading.file)) malformed(reading, document.at, "has no kind or no apiVersion");
    return;
  }
  if (kind.endsWith("List") && Array.isArray(raw.items)) {
    const header = kind === "List" ? undefined : { apiVersion, kind: kind.slice(0, -"List".length) };
    raw.items.forEach((item, index) => {
      readValue(reading, { value: item, at: `${document.at}${document.at === "" ? "" : " "}items[${index}]` }, header);
    });
    return;
  }
  if (kind === "Endpoints" && apiVersion === "v1") {
    for (const slice of endpointSlicesOf(raw)) readObject(reading, "EndpointSlice", slice, document.at);
    return;
  }
  if (!Object.hasOwn(kindRows, kind)) return;
  const row = kindRows[kind as KindName];
  if (apiVersion === row.apiVersion) {
    readObject(reading, row.kind, raw, document.at);
    return;
  }
  // The same kind name in another API group is another kind.
  const group = apiVersion.includes("/") ? apiVersion.split("/")[0] : "";
  const own = row.apiVersion.includes("/") ? row.apiVersion.split("/")[0] : "";
  if (group === own || group === "extensions") {
    objectMalformed(reading, row.kind, raw, "apiVersion", `${apiVersion} is no longer served; use ${row.apiVersion}`);
  }
}

function readObject(reading: Reading, kind: KindName, raw: Readonly<Record<string, unknown>>, at: string): void {
  const reduced = reduceObject(kind, raw);
  if ("error" in reduced) {
    objectMalformed(reading, kind, raw, reduced.error.at || at, reduced.error.text);
    return;
  }
  const { metadata } = reduced.ok;
  const wrong = nameProblem(metadata.name, 253) ?? (metadata.namespace === "" ? undefined : nameProblem(metadata.namespace, 63));
  if (wrong !== undefined) {
    malformed(reading, at, `${kind} ${wrong}`);
    return;
  }
  const namespace = namespaceOf(kind, metadata.namespace);
  const object = { ...reduced.ok, metadata: { ...metadata, namespace } } as KubeObject;
  reading.claims.push({ key: refKey({ kind, namespace, name: metadata.name }), object });
}

function objectMalformed(reading: Reading, kind: KindName, raw: Readonly<Record<string, unknown>>, at: string, text: string): void {
  const metadata = (typeof raw.metadata === "object" ? raw.metadata : undefined) as
    | { name?: unknown; namespace?: unknown }
    | null
    | undefined;
  const name = metadata?.name;
  if (typeof name !== "string" || nameProblem(name, 253) !== undefined) {
    malformed(reading, at, `${kind} without a valid metadata.name: ${text}`);
    return;
  }
  const about = { kind, namespace: namespaceOf(kind, typeof metadata?.namespace === "string" ? metadata.namespace : ""), name };
  reading.claims.push({ key: refKey(about) });
  reading.findings.push({ code: "object-malformed", about, at, text: `${text} (file ${reading.file})` });
}

function malformed(reading: Reading, at: string, text: string): void {
  reading.findings.push({ code: "object-malformed", about: { kind: "File", namespace: "", name: reading.file }, at, text });
}

function namespaceOf(kind: KindName, namespace: string): string {
  if (!kindRows[kind].namespaced) return "";
  return namespace === "" ? "default" : namespace;
}

function nameProblem(name: string, length: number): string | undefined {
  if (name.length <= length && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name)) return undefined;
  return `name ${JSON.stringify(name.slice(0, 80))} is not a name that Kubernetes allows`;
}
