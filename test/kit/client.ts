/** Requests to the proxy under test, by host name, over connections of our choice. */

import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { TLSSocket } from "node:tls";

export interface Call {
  readonly port: number;
  readonly host: string;
  readonly path?: string;
  /** Default GET. */
  readonly method?: string;
  readonly payload?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Over TLS, with the host as SNI; the certificate is reported, not verified. */
  readonly tls?: boolean;
  /** Keeps connections; absent: one of its own, closed afterwards. */
  readonly agent?: Agent | HttpsAgent;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** The demo pod that answered. */
  readonly app?: string;
  readonly pod?: string;
  readonly certificate?: { readonly subject: string; readonly fingerprint: string };
}

export function keepAliveAgent(tls: boolean): Agent | HttpsAgent {
  return tls ? new HttpsAgent({ keepAlive: true, rejectUnauthorized: false }) : new Agent({ keepAlive: true });
}

function optional(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function certificateOf(response: IncomingMessage): Reply["certificate"] {
  const certificate = (response.socket as TLSSocket).getPeerCertificate();
  return { subject: String(certificate.subject?.CN ?? ""), fingerprint: certificate.fingerprint256 };
}

function readReply(response: IncomingMessage, tls: boolean, done: (reply: Reply) => void, failed: (error: Error) => void): void {
  const certificate = tls ? certificateOf(response) : undefined;
  const chunks: Buffer[] = [];
  response.on("data", (chunk: Buffer) => chunks.push(chunk));
  response.once("error", failed);
  response.once("end", () => {
    const { headers, statusCode = 0 } = response;
    const body = Buffer.concat(chunks).toString();
    done({ status: statusCode, headers, body, app: optional(headers["x-app"]), pod: optional(headers["x-pod"]), certificate });
  });
}

/** One request. Rejects when there is no complete HTTP answer within 30 s. */
export function get(call: Call): Promise<Reply> {
  const tls = call.tls === true;
  const options = {
    host: "127.0.0.1",
    port: call.port,
    path: call.path ?? "/",
    method: call.method ?? "GET",
    headers: { host: call.host, ...call.headers },
    agent: call.agent ?? false,
    timeout: 30_000,
  };
  return new Promise((done, failed) => {
    const request = tls ? httpsRequest({ ...options, servername: call.host, rejectUnauthorized: false }) : httpRequest(options);
    request.once("response", (response) => readReply(response, tls, done, failed));
    request.once("timeout", () => request.destroy(new Error("no answer within 30 s")));
    request.once("error", failed);
    request.end(call.payload);
  });
}
