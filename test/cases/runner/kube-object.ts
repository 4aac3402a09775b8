// Objects as an API server would store them: defaults, Secret text, identity.
import { randomUUID } from "node:crypto";
import type { KubeObject } from "../../kit/fixtures/objects";

const CLUSTER_SCOPED = new Set(["IngressClass", "Namespace", "Node"]);
/** Addresses for Services that a case makes; nothing listens there. */
const VIRTUAL_PREFIX = "10.20.101.";

type Fields = Record<string, unknown>;

export interface ObjectKey {
  readonly kind: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

export function keyOf(
  object: Pick<KubeObject, "kind"> & { readonly metadata: { readonly name: string; readonly namespace?: string } },
): ObjectKey {
  const namespace = CLUSTER_SCOPED.has(object.kind) ? "" : (object.metadata.namespace ?? "default");
  return { kind: object.kind, namespace, name: object.metadata.name };
}

export function keyText({ kind, namespace, name }: ObjectKey): string {
  return `${kind}/${namespace}/${name}`;
}

function encodeSecret(object: Fields): Fields {
  const { stringData, ...rest } = object;
  const encoded = Object.entries((stringData ?? {}) as Record<string, string>).map(([key, value]) => [
    key,
    Buffer.from(value).toString("base64"),
  ]);
  return { type: "Opaque", ...rest, data: { ...(rest.data as Fields | undefined), ...Object.fromEntries(encoded) } };
}

function defaultService(object: Fields, name: string): Fields {
  const spec = (object.spec ?? {}) as Fields;
  const ports = (spec.ports as readonly Fields[] | undefined)?.map((one) => ({ protocol: "TCP", targetPort: one.port, ...one }));
  if (spec.type === "ExternalName") return { ...object, spec: { ...spec, ...(ports === undefined ? {} : { ports }) } };
  const last = 1 + ([...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % 250);
  const clusterIP = spec.clusterIP ?? `${VIRTUAL_PREFIX}${last}`;
  return {
    ...object,
    spec: { type: "ClusterIP", sessionAffinity: "None", ...spec, clusterIP, clusterIPs: [clusterIP], ports: ports ?? [] },
  };
}

function defaultSlice(object: Fields): Fields {
  const ports = (object.ports as readonly Fields[] | undefined)?.map((one) => ({ name: "", protocol: "TCP", ...one }));
  return { ...object, ...(ports === undefined ? {} : { ports }) };
}

/** Fills in what an API server would; the identity is added when the object is written. */
export function normalise(object: KubeObject): KubeObject {
  const { namespace, name } = keyOf(object);
  const metadata: KubeObject["metadata"] = { ...object.metadata, ...(namespace === "" ? {} : { namespace }) };
  const plain: Fields = { ...object, metadata };
  switch (object.kind) {
    case "Secret":
      return encodeSecret(plain) as KubeObject;
    case "Service":
      return defaultService(plain, name) as KubeObject;
    case "EndpointSlice":
      return defaultSlice(plain) as KubeObject;
    case "Namespace":
      return {
        ...plain,
        metadata: { ...metadata, labels: { "kubernetes.io/metadata.name": name, ...(metadata.labels as Fields | undefined) } },
      } as unknown as KubeObject;
    default:
      return plain as KubeObject;
  }
}

export interface Identity {
  readonly uid: string;
  /** RFC 3339 with a resolution of one second, as the API has it. */
  readonly creationTimestamp: string;
}

export function newIdentity(): Identity {
  return { uid: randomUUID(), creationTimestamp: `${new Date().toISOString().slice(0, 19)}Z` };
}
