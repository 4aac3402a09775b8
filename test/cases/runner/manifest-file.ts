// One file that holds all objects of a lane, with the identities and versions that an API server would give them.
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { KubeObject } from "../../kit/fixtures/objects";
import type { ObjectStore } from "./controller-world";
import { type Identity, keyOf, keyText, newIdentity, normalise } from "./kube-object";

interface Stored {
  readonly identity: Identity;
  readonly content: string;
  readonly version: number;
  readonly object: KubeObject;
}

function versioned({ object, version }: Stored): string {
  return `${keyText(keyOf(object))}@${version}`;
}

function served({ object, identity, version }: Stored): KubeObject {
  return { ...object, metadata: { ...object.metadata, ...identity, generation: 1, resourceVersion: String(version) } };
}

export function createManifestFile(folder: string, permanent: ReadonlySet<string>): ObjectStore {
  let stored = new Map<string, Stored>();
  let version = 1;
  function store(object: KubeObject, fresh: boolean): { readonly key: string; readonly now: Stored; readonly same: boolean } {
    const key = keyText(keyOf(object));
    const content = JSON.stringify(object);
    const before = fresh && !permanent.has(key) ? undefined : stored.get(key);
    if (before?.content === content) return { key, now: before, same: true };
    return { key, now: { identity: before?.identity ?? newIdentity(), content, version: ++version, object }, same: false };
  }
  /** In one step. */
  function write(): void {
    const draft = join(folder, ".objects.json");
    writeFileSync(draft, JSON.stringify({ apiVersion: "v1", kind: "List", items: [...stored.values()].map(served) }));
    renameSync(draft, join(folder, "objects.json"));
  }
  return {
    replace: async (objects, fresh) => {
      const next = objects.map((one) => store(normalise(one), fresh));
      const keys = new Set(next.map((one) => one.key));
      const gone = [...stored.keys()].filter((key) => !keys.has(key));
      stored = new Map(next.map(({ key, now }) => [key, now]));
      const changed = next.filter((one) => !one.same).map((one) => versioned(one.now));
      if (changed.length > 0 || gone.length > 0) write();
      return { changed, gone };
    },
    all: () => [...stored.values()].map(versioned),
  };
}
