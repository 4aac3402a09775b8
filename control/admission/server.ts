/** The admission webhook's HTTPS server. Its certificate is read again when the files change. */

import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { createSecureContext } from "node:tls";
import { type Clock, systemClock } from "../run/clock.ts";
import type { Logger } from "../run/logger.ts";
import type { CheckedReview } from "./counts.ts";
import { answerReview, type Check } from "./review.ts";

export interface AdmissionServerOptions {
  /** [host]:port of --validating-webhook. */
  readonly address: string;
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly check: Check;
  /** Resolves when the objects are known: nothing is answered before. */
  readonly ready: Promise<void>;
  readonly onChecked: (review: CheckedReview, seconds: number) => void;
  readonly logger: Logger;
  readonly clock?: Clock;
}

export interface AdmissionServer {
  readonly port: number;
  /** Reviews that are being answered. */
  readonly inUse: number;
  /** Reads the certificate again if it changed. */
  renew(): void;
  stop(): Promise<void>;
}

const bodyLimit = 9 * 1024 * 1024;
const renewMs = 1000;

/** "" as host: all addresses. Throws with a sentence for the user. */
export function parseAddress(address: string): { readonly host: string; readonly port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):([0-9]{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) throw new Error(`flag --validating-webhook must be [host]:port: ${address}`);
  return { host: match[1] ?? match[2] ?? "", port };
}

/** Rejects when the port cannot be had or the certificate cannot be used. */
export async function startAdmission(options: AdmissionServerOptions): Promise<AdmissionServer> {
  const { host, port } = parseAddress(options.address);
  const logger = options.logger.named("admission");
  let current = readPair(options);
  const open = new Set<ServerResponse>();
  const server = createServer({ ...current, minVersion: "TLSv1.2", ALPNProtocols: ["http/1.1"] }, (request, response) => {
    open.add(response);
    response.once("close", () => open.delete(response));
    answer(options, request, response).catch((error: Error) => {
      logger.error("an admission request failed", { error });
      if (!response.headersSent) send(response, 500, `${error.message}\n`);
      else response.destroy();
    });
  });
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;
  // Longer than API servers keep idle connections: they shall be the ones that close.
  server.keepAliveTimeout = 120_000;
  server.on("tlsClientError", (error) => logger.debug(3, "TLS handshake failed", { error }));
  const renew = (): void => {
    try {
      const next = readPair(options);
      if (next.cert === current.cert && next.key === current.key) return;
      server.setSecureContext({ ...next, minVersion: "TLSv1.2" });
      current = next;
      logger.info("the webhook's certificate was read again");
    } catch (error) {
      // Certificate and key are two files: between their two writes they do not fit.
      logger.logOnce("the webhook's certificate cannot be read again; the former one stays", { error: error as Error });
    }
  };
  await listen(server, host, port);
  const timer = setInterval(renew, renewMs);
  timer.unref();
  const bound = server.address();
  logger.info("admission webhook listens", { address: options.address });
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : port,
    get inUse() {
      return open.size;
    },
    renew,
    stop: () => {
      clearInterval(timer);
      // Else a connection that is still in use now is waited for as long as it is kept.
      for (const response of open) if (!response.headersSent) response.setHeader("connection", "close");
      return stop(server);
    },
  };
}

/** Throws when the two do not belong together. */
function readPair(options: AdmissionServerOptions): { readonly cert: string; readonly key: string } {
  const cert = readFileSync(options.certificateFile, "utf8");
  const key = readFileSync(options.keyFile, "utf8");
  createSecureContext({ cert, key });
  return { cert, key };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, ...(host === "" ? {} : { host }) }, () => resolve());
  });
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

async function answer(options: AdmissionServerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const clock = options.clock ?? systemClock;
  const began = clock.now();
  const body = await bodyOf(request);
  if (body === undefined) {
    send(response, 413, `the body is longer than ${bodyLimit} bytes\n`);
    return;
  }
  await options.ready;
  const { status, body: text, verdict } = await answerReview(body, options.check);
  if (verdict !== undefined) {
    const { namespace, name, counted, tested } = verdict;
    options.onChecked({ namespace, name, counted, tested, refused: verdict.refusal !== undefined }, (clock.now() - began) / 1000);
    const object = `${namespace}/${name}`;
    if (verdict.refusal !== undefined) options.logger.warning("refused an Ingress", { ingress: object, reason: verdict.refusal });
    else options.logger.debug(2, "admitted an Ingress", { ingress: object, milliseconds: clock.now() - began });
  }
  send(response, status, text, status === 200 ? "application/json" : undefined);
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size >= bodyLimit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function send(response: ServerResponse, status: number, body: string, type = "text/plain; charset=utf-8"): void {
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  response.end(body);
}
