/** What the API server asks a node for: logs of a pod, and commands inside it. */

import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import { selfSigned } from "../kit/certificates.ts";
import type { PodProcess } from "./pod-process.ts";

/** First byte of a message. */
const channels = { input: 0, output: 1, error: 2, status: 3, close: 255 } as const;
const protocol = "v5.channel.k8s.io";

/** Finds pods by namespace and name. */
export async function startKubelet(address: string, port: number, find: (key: string) => PodProcess | undefined): Promise<Server> {
  const { certificate, key } = selfSigned("node-1");
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: (offered) => (offered.has(protocol) ? protocol : false) });
  const server = createServer({ cert: certificate, key }, (request, response) => {
    const { pod, query } = asked(request.url!, "containerLogs", find);
    if (pod === undefined) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": "text/plain" });
    void follow(pod, query, response);
  });
  server.on("upgrade", (request, socket, head) => {
    const { pod, query } = asked(request.url!, "exec", find);
    if (pod === undefined || pod.ended) {
      socket.end("HTTP/1.1 404 Not Found\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, socket as Socket, head, (peer) => attach(peer, pod.exec(query.getAll("command"))));
  });
  await new Promise<void>((listening) => server.listen(port, address, listening));
  return server;
}

/** /VERB/NAMESPACE/POD/CONTAINER?… */
function asked(url: string, verb: string, find: (key: string) => PodProcess | undefined) {
  const { pathname, searchParams: query } = new URL(url, "https://node");
  const [, found, namespace, name] = pathname.split("/");
  return { query, pod: found === verb ? find(`${namespace}/${name}`) : undefined };
}

async function follow(pod: PodProcess, query: URLSearchParams, response: ServerResponse): Promise<void> {
  let text = readFileSync(pod.log);
  let sent = text.length;
  const tail = query.get("tailLines");
  if (tail !== null)
    text = Buffer.from(
      text
        .toString()
        .split(/(?<=\n)/)
        .slice(-Number(tail))
        .join(""),
    );
  response.write(text.subarray(0, Number(query.get("limitBytes") ?? text.length)));
  while (query.get("follow") === "true" && !pod.ended && !response.destroyed) {
    await pause(50);
    const now = readFileSync(pod.log);
    response.write(now.subarray(sent));
    sent = now.length;
  }
  response.end();
}

function attach(peer: WebSocket, child: ChildProcess): void {
  const send = (channel: number) => (chunk: Buffer) => peer.send(Buffer.concat([Buffer.from([channel]), chunk]));
  child.stdout!.on("data", send(channels.output));
  child.stderr!.on("data", send(channels.error));
  child.stdin!.on("error", () => undefined);
  peer.on("message", (data: RawData) => {
    const [channel, ...rest] = data as Buffer;
    if (channel === channels.input) child.stdin!.write(Buffer.from(rest));
    else if (channel === channels.close) child.stdin!.end();
  });
  peer.once("close", () => child.kill("SIGKILL"));
  child.once("close", (code) => {
    send(channels.status)(Buffer.from(JSON.stringify(statusOf(code ?? 1))));
    peer.close(1000);
  });
}

function statusOf(code: number): object {
  if (code === 0) return { metadata: {}, status: "Success" };
  return {
    metadata: {},
    status: "Failure",
    message: `command terminated with non-zero exit code: exit status ${code}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(code) }] },
  };
}
