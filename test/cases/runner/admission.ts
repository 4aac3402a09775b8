// The API server's side of the validating webhook.
import { randomUUID } from "node:crypto";
import { request } from "node:https";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { KubeObject } from "../../kit/fixtures/objects";
import { type Identity, newIdentity, normalise } from "./kube-object";
import { WorldError } from "./world";

export const WEBHOOK_PORT = 18443;
const CALL_MS = 20_000;
const START_MS = 10_000;

export interface Verdict {
  readonly allowed: boolean;
  readonly message: string;
}

export function webhookFlags(certFile: string, keyFile: string): readonly string[] {
  return [`--validating-webhook=:${WEBHOOK_PORT}`, `--validating-webhook-certificate=${certFile}`, `--validating-webhook-key=${keyFile}`];
}

/** Waits until somebody accepts connections on the webhook's port. */
export async function webhookUp(): Promise<void> {
  const over = Date.now() + START_MS;
  for (;;) {
    const up = await new Promise<boolean>((done) => {
      const socket = connect({ host: "127.0.0.1", port: WEBHOOK_PORT });
      socket.on("connect", () => done(true)).on("error", () => done(false));
      socket.on("connect", () => socket.destroy());
    });
    if (up) return;
    if (Date.now() > over) throw new WorldError(`no admission webhook on port ${WEBHOOK_PORT}`);
    await pause(25);
  }
}

function post(body: string): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: "127.0.0.1",
        port: WEBHOOK_PORT,
        path: "/networking/v1/ingresses",
        method: "POST",
        rejectUnauthorized: false,
        timeout: CALL_MS,
        headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
      },
    );
    call.on("timeout", () => call.destroy(new Error(`no answer within ${CALL_MS} ms`)));
    call.on("error", reject);
    call.end(body);
  });
}

function asStored(object: KubeObject, identity: Identity): KubeObject {
  const stored = normalise(object);
  return { ...stored, metadata: { ...stored.metadata, ...identity, generation: 1 } };
}

/** Asks the webhook about one write. Throws WorldError when it does not answer as the protocol demands. */
export async function review(object: KubeObject, before: KubeObject | undefined): Promise<Verdict> {
  const uid = randomUUID();
  const identity = newIdentity();
  const [group = "", version = ""] = object.apiVersion.split("/");
  const resource = `${object.kind.toLowerCase()}es`;
  const body = JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid,
      kind: { group, version, kind: object.kind },
      resource: { group, version, resource },
      requestKind: { group, version, kind: object.kind },
      requestResource: { group, version, resource },
      name: object.metadata.name,
      namespace: object.metadata.namespace ?? "default",
      operation: before === undefined ? "CREATE" : "UPDATE",
      userInfo: { username: "case-runner" },
      object: asStored(object, identity),
      oldObject: before === undefined ? null : asStored(before, identity),
      dryRun: false,
      options: { apiVersion: "meta.k8s.io/v1", kind: before === undefined ? "CreateOptions" : "UpdateOptions" },
    },
  });
  const { status, text } = await post(body).catch((error: Error) => {
    throw new WorldError(`admission webhook: ${error.message}`);
  });
  const response =
    status === 200
      ? (JSON.parse(text) as { response?: { uid?: string; allowed?: boolean; status?: { message?: string } } }).response
      : undefined;
  if (response?.uid !== uid || typeof response.allowed !== "boolean") {
    throw new WorldError(`admission webhook answered ${status}: ${text.slice(0, 300)}`);
  }
  return { allowed: response.allowed, message: response.status?.message ?? "" };
}
