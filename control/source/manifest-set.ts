/** Manifests of many files → one set of complete objects, as changes to the set before. No I/O. */

import { createHash } from "node:crypto";
import type { Finding } from "../model/finding.ts";
import type { Manifest } from "./manifest.ts";
import type { KubeObject, SourceEvent } from "./source.ts";

export interface ManifestFile {
  readonly manifest: Manifest;
  /** Milliseconds since the epoch: creation time of objects that name none. */
  readonly mtime: number;
}

export interface SetChange {
  readonly events: readonly SourceEvent[];
  readonly findings: readonly Finding[];
}

interface Known {
  /** As read; the same reference means that nothing changed. */
  readonly read: KubeObject;
  readonly object: KubeObject;
  readonly hash: string;
}

export class ManifestSet {
  #known: ReadonlyMap<string, Known> = new Map();

  get size(): number {
    return this.#known.size;
  }

  /** files: all of them, in the order of precedence. The first definition of an object wins. */
  replace(files: Iterable<readonly [string, ManifestFile]>): SetChange {
    const next = new Map<string, Known>();
    const owners = new Map<string, string>();
    const findings: Finding[] = [];
    const events: SourceEvent[] = [];
    for (const [path, file] of files) {
      findings.push(...file.manifest.findings);
      for (const claim of file.manifest.claims) {
        const owner = owners.get(claim.key);
        const former = this.#known.get(claim.key);
        if (owner !== undefined) {
          if (claim.object !== undefined) findings.push(duplicate(claim.object, path, owner));
          continue;
        }
        const known = claim.object === undefined ? former : complete(claim.object, former, file.mtime);
        if (known === undefined) continue;
        owners.set(claim.key, path);
        next.set(claim.key, known);
        if (known.object !== former?.object) events.push({ type: "upsert", object: known.object });
      }
    }
    for (const [key, { object }] of this.#known) {
      if (next.has(key)) continue;
      events.push({ type: "delete", kind: object.kind, namespace: object.metadata.namespace, name: object.metadata.name });
    }
    this.#known = next;
    return { events, findings };
  }
}

/** Fills in what an API server would have set. The former object itself when nothing changed. */
function complete(read: KubeObject, former: Known | undefined, mtime: number): Known {
  if (former !== undefined && former.read === read) return former;
  const { metadata } = read;
  const hash = digest(JSON.stringify({ ...read, metadata: { ...metadata, resourceVersion: "", creationTimestamp: "" } }));
  const same = former?.hash === hash;
  let resourceVersion = metadata.resourceVersion === "" ? hash.slice(0, 16) : metadata.resourceVersion;
  if (former !== undefined && former.read.metadata.resourceVersion === metadata.resourceVersion) {
    // Edited by hand without a new version: whoever remembers objects by version must still notice.
    if (metadata.resourceVersion !== "")
      resourceVersion = same ? former.object.metadata.resourceVersion : `${resourceVersion}-${hash.slice(0, 8)}`;
  }
  const creationTimestamp =
    metadata.creationTimestamp || former?.object.metadata.creationTimestamp || `${new Date(mtime).toISOString().slice(0, 19)}Z`;
  const unchanged =
    same && former.object.metadata.resourceVersion === resourceVersion && former.object.metadata.creationTimestamp === creationTimestamp;
  if (unchanged) return { ...former, read };
  const uid = metadata.uid || uuidOf(`${read.kind}/${metadata.namespace}/${metadata.name}`);
  return { read, hash, object: { ...read, metadata: { ...metadata, uid, resourceVersion, creationTimestamp } } as KubeObject };
}

function duplicate(object: KubeObject, path: string, owner: string): Finding {
  const { namespace, name } = object.metadata;
  const text = path === owner ? `is defined twice in ${path}` : `is defined in ${owner} and again in ${path}`;
  return { code: "object-duplicate", about: { kind: object.kind, namespace, name }, at: "", text };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The same name has the same uid on every machine and after every start. */
function uuidOf(text: string): string {
  const hex = digest(text);
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join("-");
}
