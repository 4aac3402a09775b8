/**
 * The pods of the soak, in a process of their own: HTTP with websockets, or gRPC, each on its own address. A pod that is
 * told to stop does what well-made servers do on SIGTERM: it takes no new connection and finishes what it has begun.
 */

import { createServer as createHttp, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  createServer as createHttp2,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { type WebSocket, WebSocketServer } from "ws";
import { frameMessage } from "../kit/fixtures/grpc-echo.ts";
import { podPort, type SoakService } from "./services.ts";

/** Of a websocket whose pod stops. */
export const goingAway = 1001;

export type PodOrder =
  | { readonly kind: "open"; readonly address: string; readonly service: string; readonly protocol: SoakService["protocol"] }
  | { readonly kind: "close"; readonly address: string };

export type PodReport =
  /** It listens, or it has gone. */
  | { readonly kind: "done"; readonly address: string }
  /** A request came after it had been told to stop. */
  | { readonly kind: "late"; readonly address: string };

interface Running {
  readonly server: { close(done?: () => void): unknown };
  /** Ends what would keep the server open without being a request; from now on each request is late. */
  readonly drain: (late: () => void) => void;
}

/** "/bytes/N" answers N bytes, "/delay/N" after N ms; what was posted comes back. */
async function answerHttp(service: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const [, what, number] = (request.url ?? "").split("/");
  if (what === "delay") await pause(Number(number));
  const body = request.method === "POST" ? Buffer.concat(parts) : Buffer.alloc(what === "bytes" ? Number(number) : 2, "o");
  response.writeHead(200, { "content-type": "text/plain", "content-length": body.length, "x-app": service });
  response.end(body);
}

function openHttp(service: string): Running & { readonly server: Server } {
  const sessions = new Set<WebSocket>();
  const upgrades = new WebSocketServer({ noServer: true });
  let late: (() => void) | undefined;
  const server = createHttp((request, response) => {
    late?.();
    response.shouldKeepAlive = late === undefined;
    answerHttp(service, request, response).catch(() => response.destroy());
  });
  // A keep-alive connection that the proxy holds must outlive its own timeout there.
  server.keepAliveTimeout = 120_000;
  server.on("upgrade", (request, socket, head) => {
    late?.();
    upgrades.handleUpgrade(request, socket as Socket, head, (session) => {
      sessions.add(session);
      session.on("message", (data, binary) => session.send(data, { binary }));
      session.on("error", () => session.terminate());
      session.on("close", () => sessions.delete(session));
    });
  });
  return {
    server,
    drain: (onLate) => {
      late = onLate;
      for (const session of sessions) session.close(goingAway);
    },
  };
}

/** "/soak.Echo/Stream": the message five times, 20 ms apart. Anything else: once. */
async function answerGrpc(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  const message = Buffer.concat(parts);
  const times = headers[":path"] === "/soak.Echo/Stream" ? 5 : 1;
  if (stream.destroyed) return;
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  for (let time = 1; time < times; time++) {
    stream.write(frameMessage(message.subarray(5)));
    await pause(20);
  }
  stream.end(frameMessage(message.subarray(5)));
}

function openGrpc(): Running & { readonly server: Http2Server } {
  let late: (() => void) | undefined;
  const sessions = new Set<ServerHttp2Session>();
  const server = createHttp2();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  server.on("sessionError", () => undefined);
  server.on("stream", (stream, headers) => {
    late?.();
    stream.on("error", () => stream.destroy());
    answerGrpc(stream, headers).catch(() => stream.destroy());
  });
  return {
    server,
    drain: (onLate) => {
      late = onLate;
      for (const session of sessions) session.close();
    },
  };
}

/** Body of the process: obeys orders, and reports each pod that listens or has gone. */
export function servePods(): void {
  const running = new Map<string, Running>();
  function tell(kind: PodReport["kind"], address: string): void {
    if (process.connected) process.send!({ kind, address } satisfies PodReport);
  }
  process.on("disconnect", () => process.exit(0));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
  process.on("message", (order: PodOrder) => {
    const { address } = order;
    if (order.kind === "open") {
      const pod = order.protocol === "grpc" ? openGrpc() : openHttp(order.service);
      running.set(address, pod);
      pod.server.listen({ host: address, port: podPort, backlog: 511 }, () => tell("done", address));
      return;
    }
    const pod = running.get(address)!;
    running.delete(address);
    pod.server.close(() => tell("done", address));
    pod.drain(() => tell("late", address));
  });
}
