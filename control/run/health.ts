/** The controller's own HTTP port: health, metrics, and for tools on this machine what has been applied and found. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { finished, pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type AppliedAnswer, type AppliedRequest, parseApplied } from "./applied-request.ts";
import { checkOne, type HealthCheck, healthReport } from "./health-report.ts";
import type { Logger } from "./logger.ts";

export interface MetricsText {
  readonly contentType: string;
  /** Written piece by piece, so that a large text does not hold the event loop. A piece is good until the next but one is asked for. */
  readonly pieces: AsyncIterable<string | Buffer> | Iterable<string>;
}

export interface HealthOptions {
  /** Empty: all addresses. */
  readonly host: string;
  readonly port: number;
  /** --health-check-path. */
  readonly path: string;
  readonly checks: readonly HealthCheck[];
  readonly metrics: () => Promise<MetricsText>;
  /** JSON values for tools on this machine. */
  readonly findings: () => readonly unknown[];
  readonly state?: () => unknown;
  readonly waitApplied: (request: AppliedRequest, timeoutMs: number) => Promise<AppliedAnswer>;
  /** Undefined: not a kind that is followed. */
  readonly scopeOf: (kind: string) => "namespaced" | "cluster" | undefined;
  readonly logger: Logger;
}

export interface HealthServer {
  /** The one listened on; differs from the wanted one when that was 0. */
  readonly port: number;
  stop(): Promise<void>;
}

const bodyLimit = 16 * 1024 * 1024;

/** Rejects when the port cannot be had. */
export function startHealth(options: HealthOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    answer(options, request, response).catch((error: Error) => {
      options.logger.error("request on the health port failed", { url: request.url, error });
      if (!response.headersSent) text(response, 500, "internal server error\n");
      else response.destroy();
    });
  });
  server.headersTimeout = 10_000;
  server.requestTimeout = 10_000;
  server.keepAliveTimeout = 120_000;
  server.setTimeout(300_000);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port: options.port, ...(options.host === "" ? {} : { host: options.host }) }, () => {
      const address = server.address();
      resolve({ port: typeof address === "object" && address !== null ? address.port : options.port, stop: () => stop(server) });
    });
  });
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function answer(options: HealthOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", "http://controller");
  const path = url.pathname;
  if (path === options.path) {
    const report = await healthReport(options.checks, {
      verbose: url.searchParams.has("verbose"),
      exclude: url.searchParams.getAll("exclude"),
    });
    text(response, report.ok ? 200 : 500, report.text);
    return;
  }
  const check = options.checks.find(({ name }) => path === `${options.path}/${name}`);
  if (check !== undefined) {
    const problem = await checkOne(check);
    text(response, problem === undefined ? 200 : 500, problem === undefined ? "ok" : `internal server error: ${problem}\n`);
    return;
  }
  if (path === "/metrics") {
    await metrics(options, request, response);
    return;
  }
  // These name the users' objects: only for who is on this machine already.
  if (isLocal(request) && path === "/findings") {
    json(response, 200, options.findings());
    return;
  }
  if (isLocal(request) && path === "/state" && options.state !== undefined) {
    json(response, 200, options.state());
    return;
  }
  if (isLocal(request) && path === "/applied") {
    await applied(options, request, response, url.searchParams);
    return;
  }
  text(response, 404, "404 page not found\n");
}

async function metrics(options: HealthOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { contentType, pieces } = await options.metrics();
  const zips = acceptsGzip(request);
  response.writeHead(200, { "content-type": contentType, vary: "Accept-Encoding", ...(zips ? { "content-encoding": "gzip" } : {}) });
  await send(pieces, response, zips).catch((error: NodeJS.ErrnoException) => {
    // whoever asked has gone
    if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  });
}

/** A piece is made while the one before it is on its way. */
async function send(pieces: MetricsText["pieces"], response: ServerResponse, zips: boolean): Promise<void> {
  // The fastest level makes a fortieth of so many equal labels, on a thread of its own.
  const gzip = zips ? createGzip({ level: 1 }) : undefined;
  const to = gzip ?? response;
  const end = gzip === undefined ? finished(response) : pipeline(gzip, response);
  // resolved also when it fails: then the end does
  const write = (piece: string | Buffer) => new Promise<void>((resolve) => to.write(piece, () => resolve()));
  let sent = Promise.resolve();
  try {
    for await (const piece of pieces) {
      await Promise.race([sent, end]);
      sent = write(piece);
    }
    to.end();
  } catch (error) {
    to.destroy(error as Error);
    await end.catch(() => undefined);
    throw error;
  }
  await end;
}

function acceptsGzip(request: IncomingMessage): boolean {
  const offers = String(request.headers["accept-encoding"] ?? "").split(",");
  return offers.some((offer) => /^\s*gzip\s*(;|$)/i.test(offer) && !/;\s*q=0(\.0*)?\s*$/i.test(offer));
}

async function applied(options: HealthOptions, request: IncomingMessage, response: ServerResponse, query: URLSearchParams): Promise<void> {
  let fields = query;
  if (request.method === "POST") {
    const body = await bodyOf(request);
    if (body === undefined) {
      json(response, 413, { error: `the body is longer than ${bodyLimit} bytes` });
      return;
    }
    fields = new URLSearchParams([...query, ...new URLSearchParams(body)]);
  } else if (request.method !== "GET") {
    json(response, 405, { error: "only GET and POST" });
    return;
  }
  const parsed = parseApplied(fields, options.scopeOf);
  if ("error" in parsed) {
    json(response, 400, parsed);
    return;
  }
  const outcome = await options.waitApplied(parsed.request, parsed.timeoutMs);
  json(response, outcome.done ? 200 : 504, outcome);
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bodyLimit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function isLocal(request: IncomingMessage): boolean {
  const address = request.socket.remoteAddress ?? "";
  return address === "::1" || /^(::ffff:)?127\./.test(address);
}

function text(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" });
  response.end(body);
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(`${JSON.stringify(body)}\n`);
}
