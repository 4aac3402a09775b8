/** This pod and its siblings, as the API server knows them. */

import { readFileSync } from "node:fs";
import type { ApiServer } from "../source/api-server.ts";
import type { NodeAddresses } from "./addresses.ts";

export interface PodIdentity {
  readonly name: string;
  readonly namespace: string;
}

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: { readonly nodeName?: string };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

interface Node {
  readonly status?: { readonly addresses?: NodeAddresses["addresses"] };
}

/** Labels that tell revisions of one workload apart. */
const revisionLabels: ReadonlySet<string> = new Set(["controller-revision-hash", "pod-template-hash", "pod-template-generation"]);
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/** From the environment; the namespace else from the service account. Throws with advice. */
export function podIdentity(env: NodeJS.ProcessEnv = process.env): PodIdentity {
  const name = env.POD_NAME ?? "";
  const namespace = env.POD_NAMESPACE || serviceAccountNamespace();
  if (name === "" || namespace === "")
    throw new Error("set POD_NAME and POD_NAMESPACE in the environment to this pod's name and namespace");
  return { name, namespace };
}

function serviceAccountNamespace(): string {
  try {
    return readFileSync(namespaceFile, "utf8").trim();
  } catch {
    return "";
  }
}

export class OwnPods {
  readonly #api: ApiServer;
  readonly #self: PodIdentity;

  constructor(api: ApiServer, self: PodIdentity) {
    this.#api = api;
    this.#self = self;
  }

  async uid(signal: AbortSignal): Promise<string> {
    return (await this.#own(signal)).metadata.uid;
  }

  /** Of the nodes that run a ready pod with this pod's labels. */
  async nodes(signal: AbortSignal): Promise<NodeAddresses[]> {
    const pods = await this.#siblings(signal, () => true);
    const ready = pods.filter(
      ({ status }) =>
        status?.phase === "Running" && status.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True"),
    );
    const names = new Set(ready.flatMap(({ spec }) => (spec?.nodeName ? [spec.nodeName] : [])));
    const nodes = await Promise.all([...names].map((name) => this.#api.get(`/api/v1/nodes/${name}`, {}, signal) as Promise<Node>));
    return nodes.map(({ status }) => ({ addresses: status?.addresses ?? [] }));
  }

  /** Other pods of the same workload, of any revision and in any phase. */
  async others(signal: AbortSignal): Promise<number> {
    const pods = await this.#siblings(signal, (label) => !revisionLabels.has(label));
    return pods.filter(({ metadata }) => metadata.name !== this.#self.name).length;
  }

  async #siblings(signal: AbortSignal, wanted: (label: string) => boolean): Promise<readonly Pod[]> {
    const own = await this.#own(signal);
    const labels = Object.entries(own.metadata.labels ?? {}).filter(([label]) => wanted(label));
    // Without labels every pod of the namespace would count.
    if (labels.length === 0) return [own];
    const labelSelector = labels.map(([label, value]) => `${label}=${value}`).join(",");
    const list = (await this.#api.get(`/api/v1/namespaces/${this.#self.namespace}/pods`, { labelSelector }, signal)) as {
      readonly items: readonly Pod[];
    };
    return list.items;
  }

  async #own(signal: AbortSignal): Promise<Pod> {
    return (await this.#api.get(`/api/v1/namespaces/${this.#self.namespace}/pods/${this.#self.name}`, {}, signal)) as Pod;
  }
}
