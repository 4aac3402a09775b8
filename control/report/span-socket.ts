/** The unix socket on which workers deliver spans (SpanExportDocument of wire.ts says how). */

import type { Socket } from "node:net";
import type { Logger } from "../run/logger.ts";
import { Deliveries, listenToWorkers, type WorkerSocket } from "./worker-socket.ts";

export interface SpanSocketOptions {
  readonly path: string;
  /** User of nginx's workers; undefined: our own. */
  readonly user: string | undefined;
  readonly logger: Logger;
  /** False: there is no room, the worker keeps them. */
  readonly take: (count: number, spans: Buffer) => boolean;
}

const mostBytes = 64 * 1024 * 1024;
const longestHead = 100;

/** Rejects when the socket cannot be made. */
export function listenForSpans(options: SpanSocketOptions): Promise<WorkerSocket> {
  const taken = new Deliveries();
  return listenToWorkers(options.path, options.user, (socket) => serve(socket, options, taken));
}

function serve(socket: Socket, { logger, take }: SpanSocketOptions, taken: Deliveries): void {
  const chunks: Buffer[] = [];
  let size = 0;
  let head: Head | undefined;
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    head ??= readHead(Buffer.concat(chunks));
    if (head === undefined && size <= longestHead) return;
    if (head === undefined || head.bytes > mostBytes || size > head.length + head.bytes) {
      logger.error("a worker sends spans that cannot be read");
      socket.destroy();
    } else if (size === head.length + head.bytes) {
      const ok = taken.has(head.name) || take(head.spans, Buffer.concat(chunks).subarray(head.length));
      if (ok) taken.add(head.name);
      socket.end(ok ? "ok\n" : "no room\n");
    }
  });
  socket.on("error", () => socket.destroy());
}

interface Head {
  readonly spans: number;
  readonly bytes: number;
  readonly name: string;
  /** Of itself. */
  readonly length: number;
}

function readHead(text: Buffer): Head | undefined {
  const end = text.indexOf("\n");
  const match = end < 0 ? undefined : /^(\d{1,9}) (\d{1,12}) (.+)$/.exec(text.subarray(0, end).toString("latin1"));
  return match ? { spans: Number(match[1]), bytes: Number(match[2]), name: match[3] ?? "", length: end + 1 } : undefined;
}
