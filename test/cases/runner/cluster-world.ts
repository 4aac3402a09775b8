// The world of --source=cluster: a real API server in the lane's network namespace, and a controller that follows it.
import { request } from "node:https";
import { join } from "node:path";
import { ControlPlane } from "../../cluster/control-plane";
import type { KubeObject } from "../../kit/fixtures/objects";
import { createControllerWorld, type ObjectChange, type ObjectStore } from "./controller-world";
import { worldFlags } from "./folder-world";
import { keyOf, keyText, normalise } from "./kube-object";
import type { World } from "./world";

/** The API server does not take an object of the case, so there is nothing to serve. */
export class ObjectRefused extends Error {}

export interface ClusterWorldOptions {
  readonly controller: string;
  readonly folder: string;
  readonly permanent: ReadonlySet<string>;
  /** The program of etcd and kube-apiserver. */
  readonly kube: string;
}

/** Fixtures and cases put their Services at 10.20.100 and 101; the first address of the range belongs to the API server. */
const serviceRange = "10.20.96.0/19";

const plurals: Readonly<Record<string, string>> = {
  Ingress: "ingresses",
  IngressClass: "ingressclasses",
  EndpointSlice: "endpointslices",
  Endpoints: "endpoints",
};

interface Reply {
  readonly status: number;
  readonly body: string;
}

function call(method: string, path: string, body?: unknown, type = "application/json"): Promise<Reply> {
  return new Promise((done, failed) => {
    const headers = { authorization: "Bearer admin-token", ...(body === undefined ? {} : { "content-type": type }) };
    const sent = request({ host: "127.0.0.1", port: 6443, method, path, headers, rejectUnauthorized: false }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("end", () => done({ status: answer.statusCode!, body: Buffer.concat(parts).toString() }));
    });
    sent.on("error", failed);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Path of all objects of its kind in its namespace. */
function folderOf(object: KubeObject): string {
  const { kind, namespace } = keyOf(object);
  const group = object.apiVersion === "v1" ? "/api/v1" : `/apis/${object.apiVersion}`;
  return `${group}${namespace === "" ? "" : `/namespaces/${namespace}`}/${plurals[kind] ?? `${kind.toLowerCase()}s`}`;
}

function pathOf(object: KubeObject): string {
  return `${folderOf(object)}/${object.metadata.name}`;
}

function messageOf({ status, body }: Reply): string {
  try {
    return `${status} ${(JSON.parse(body) as { message?: string }).message}`;
  } catch {
    return `${status} ${body.slice(0, 200)}`;
  }
}

/** Creates or replaces; returns the version. Namespaces are patched: they hold more than a case knows of. */
async function write(object: KubeObject): Promise<string> {
  let reply =
    object.kind === "Namespace"
      ? await call("PATCH", pathOf(object), { metadata: { labels: object.metadata.labels } }, "application/merge-patch+json")
      : await call("PUT", pathOf(object), object);
  if (reply.status === 404) reply = await call("POST", folderOf(object), object);
  if (reply.status > 201) throw new ObjectRefused(`the API server refuses ${keyText(keyOf(object))}: ${messageOf(reply)}`);
  return (JSON.parse(reply.body) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
}

async function remove(object: KubeObject): Promise<void> {
  const reply = await call("DELETE", pathOf(object));
  if (reply.status >= 300 && reply.status !== 404) throw new Error(`cannot delete ${keyText(keyOf(object))}: ${messageOf(reply)}`);
}

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
      await remove(object);
      stored.delete(key);
    }
    stored.set(key, { object, content, version: await write(object) });
    return versioned(key);
  }

  return {
    replace: async (objects, fresh): Promise<ObjectChange> => {
      const keys = new Set(objects.map((object) => keyText(keyOf(object))));
      const gone = [...stored.keys()].filter((key) => !keys.has(key));
      for (const key of gone) {
        await remove(stored.get(key)!.object);
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
