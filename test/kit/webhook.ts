/** The API server's side of the admission webhook, for a controller under test. */

import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "../../build/free-ports.ts";
import { selfSigned } from "./certificates.ts";
import type { KubeObject } from "./fixtures/objects.ts";

export interface ReviewReply {
  readonly status: number;
  /** JSON where the status is 200. */
  readonly text: string;
}

export interface ReviewVerdict {
  readonly allowed: boolean;
  readonly message: string;
  readonly warnings: readonly string[];
}

export class Webhook {
  readonly port: number;
  private readonly dir: string;

  private constructor(port: number) {
    this.port = port;
    this.dir = mkdtempSync(join(tmpdir(), "sluice-webhook-"));
    const { certificate, key } = selfSigned("webhook.test");
    writeFileSync(join(this.dir, "cert.pem"), certificate);
    writeFileSync(join(this.dir, "key.pem"), key);
  }

  static async create(): Promise<Webhook> {
    return new Webhook((await freePorts(1))[0] as number);
  }

  /** For the controller. */
  get flags(): readonly string[] {
    const file = (name: string) => join(this.dir, name);
    return [
      `--validating-webhook=127.0.0.1:${this.port}`,
      `--validating-webhook-certificate=${file("cert.pem")}`,
      `--validating-webhook-key=${file("key.pem")}`,
    ];
  }

  /** Throws on anything but an answer to this very review. */
  async review(object: unknown): Promise<ReviewVerdict> {
    const uid = randomUUID();
    const { status, text } = await this.post(reviewBody(object, uid));
    if (status !== 200) throw new Error(`the webhook answered ${status}: ${text}`);
    const { response } = JSON.parse(text) as {
      readonly response: {
        readonly uid: string;
        readonly allowed: boolean;
        readonly status?: { readonly message: string };
        readonly warnings?: readonly string[];
      };
    };
    if (response.uid !== uid) throw new Error(`the webhook answered another review: ${text}`);
    return { allowed: response.allowed, message: response.status?.message ?? "", warnings: response.warnings ?? [] };
  }

  post(body: string | Buffer, agent: Agent | false = false): Promise<ReviewReply> {
    return new Promise((resolve, reject) => {
      const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const call = request(
        { host: "127.0.0.1", port: this.port, path: "/networking/v1/ingresses", method: "POST", rejectUnauthorized: false, headers, agent },
        (response) => {
          const parts: Buffer[] = [];
          response.on("data", (part: Buffer) => parts.push(part));
          response.once("error", reject);
          response.once("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
        },
      );
      call.once("error", reject);
      call.end(body);
    });
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export function reviewBody(object: unknown, uid: string = randomUUID()): string {
  const kind = { group: "networking.k8s.io", version: "v1", kind: "Ingress" };
  return JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { uid, kind, operation: "CREATE", object, dryRun: false },
  });
}

/** With what the API server adds before it asks. */
export function asCreated(object: KubeObject): KubeObject {
  return { ...object, metadata: { uid: randomUUID(), creationTimestamp: new Date().toISOString(), ...object.metadata } };
}
