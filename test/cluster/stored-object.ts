/** Objects in the API server that control-plane.ts starts, with everybody's right. */

import { request } from "node:https";
import { keyOf, keyText } from "../cases/runner/kube-object";
import type { KubeObject } from "../kit/fixtures/objects";

/** The API server does not take the object. */
export class ObjectRefused extends Error {}

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

/** Creates or replaces; returns the version. Namespaces are patched: they hold more than a test knows of. */
export async function writeObject(object: KubeObject): Promise<string> {
  let reply =
    object.kind === "Namespace"
      ? await call("PATCH", pathOf(object), { metadata: { labels: object.metadata.labels } }, "application/merge-patch+json")
      : await call("PUT", pathOf(object), object);
  if (reply.status === 404) reply = await call("POST", folderOf(object), object);
  if (reply.status > 201) throw new ObjectRefused(`the API server refuses ${keyText(keyOf(object))}: ${messageOf(reply)}`);
  return (JSON.parse(reply.body) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
}

/** One that is not there is as good as removed. */
export async function removeObject(object: KubeObject): Promise<void> {
  const reply = await call("DELETE", pathOf(object));
  if (reply.status >= 300 && reply.status !== 404) throw new Error(`cannot delete ${keyText(keyOf(object))}: ${messageOf(reply)}`);
}
