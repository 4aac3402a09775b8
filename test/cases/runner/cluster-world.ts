// The world of --source=cluster: a real API server in the lane's network namespace, and a controller that follows it.
import { join } from "node:path";
import { ControlPlane } from "../../cluster/control-plane";
import { removeObject, writeObject } from "../../cluster/stored-object";
import type { KubeObject } from "../../kit/fixtures/objects";
import { createControllerWorld, type ObjectChange, type ObjectStore } from "./controller-world";
import { worldFlags } from "./folder-world";
import { keyOf, keyText, normalise } from "./kube-object";
import type { World } from "./world";

export interface ClusterWorldOptions {
  readonly controller: string;
  readonly folder: string;
  readonly permanent: ReadonlySet<string>;
  /** The program of etcd and kube-apiserver. */
  readonly kube: string;
}

/** Fixtures and cases put their Services at 10.20.100 and 101; the first address of the range belongs to the API server. */
const serviceRange = "10.20.96.0/19";

/** Namespaces are not watched unless a flag asks for it. */
function isFollowed({ kind }: KubeObject): boolean {
  return kind !== "Namespace";
}

interface Stored {
  readonly object: KubeObject;
  readonly content: string;
  readonly version: string;
}

/** What was refused is not remembered, so the next replacement tidies up. */
function createApiStore(permanent: ReadonlySet<string>): ObjectStore {
  const stored = new Map<string, Stored>();
  const versioned = (key: string): string => `${key}@${stored.get(key)!.version}`;

  async function store(given: KubeObject, fresh: boolean): Promise<string | undefined> {
    const object = normalise(given);
    const key = keyText(keyOf(object));
    const content = JSON.stringify(object);
    const before = stored.get(key);
    const renewed = before !== undefined && fresh && !permanent.has(key);
    if (before?.content === content && !renewed) return undefined;
    if (renewed) {
      await removeObject(object);
      stored.delete(key);
    }
    stored.set(key, { object, content, version: await writeObject(object) });
    return versioned(key);
  }

  return {
    replace: async (objects, fresh): Promise<ObjectChange> => {
      const keys = new Set(objects.map((object) => keyText(keyOf(object))));
      const gone = [...stored.keys()].filter((key) => !keys.has(key));
      for (const key of gone) {
        await removeObject(stored.get(key)!.object);
        stored.delete(key);
      }
      // Namespaces before what lies in them.
      const order = objects.toSorted((a, b) => Number(b.kind === "Namespace") - Number(a.kind === "Namespace"));
      const changed: string[] = [];
      for (const object of order) {
        const version = await store(object, fresh);
        if (version !== undefined && isFollowed(object)) changed.push(version);
      }
      return { changed, gone: gone.filter((key) => !key.startsWith("Namespace/")) };
    },
    all: () => [...stored].flatMap(([key, { object }]) => (isFollowed(object) ? [versioned(key)] : [])),
  };
}

export async function createClusterWorld(options: ClusterWorldOptions): Promise<World> {
  const plane = new ControlPlane(options.kube, join(options.folder, "plane"), serviceRange);
  await plane.startStore();
  process.on("exit", () => void plane.stop());
  // Status would change the versions of Ingresses while the runner waits for them.
  const flags = [`--kubeconfig=${plane.adminConfig}`, "--disable-leader-election=true", "--update-status=false", ...worldFlags];
  const store = createApiStore(options.permanent);
  return createControllerWorld({ controller: options.controller, folder: options.folder, flags, store });
}
