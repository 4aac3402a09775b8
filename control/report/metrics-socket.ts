/** The unix socket on which workers deliver their metrics: lines of JSON, the delivery's name at the end, "ok" as the answer. */

import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { endOfDelivery, type MetricsLine } from "../../lua-src/wire.ts";
import type { Logger } from "../run/logger.ts";
import { Deliveries, listenToWorkers, type WorkerSocket } from "./worker-socket.ts";

export interface MetricsSocketOptions {
  readonly path: string;
  /** User of nginx's workers; undefined: our own. */
  readonly user: string | undefined;
  readonly logger: Logger;
  readonly take: (line: MetricsLine) => void;
}

const linesAtOnce = 500;
const mostBytes = 256 * 1024 * 1024;

/** Rejects when the socket cannot be made. */
export function listenForMetrics(options: MetricsSocketOptions): Promise<WorkerSocket> {
  const taken = new Deliveries();
  return listenToWorkers(options.path, options.user, (socket) => serve(socket, options, taken));
}

/** All lines of a delivery count or none: what is broken off is sent again. */
function serve(socket: Socket, { logger, take }: MetricsSocketOptions, taken: Deliveries): void {
  const lines: MetricsLine[] = [];
  let rest = "";
  let bytes = 0;
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => {
    bytes += chunk.length;
    const texts = (rest + chunk).split("\n");
    rest = texts.pop() ?? "";
    for (const text of texts) {
      if (text.startsWith(endOfDelivery)) {
        const name = text.slice(endOfDelivery.length);
        const known = taken.has(name);
        taken.add(name);
        void takeAll(known ? [] : lines, take).then(() => socket.end("ok\n"));
        return;
      }
      const line = bytes > mostBytes ? undefined : parse(text);
      if (line === undefined) {
        logger.error("a worker sends metrics that cannot be read", { text: text.slice(0, 200) });
        socket.destroy();
        return;
      }
      lines.push(line);
    }
  });
  socket.on("error", () => socket.destroy());
}

/** A delivery may have thousands of lines: the controller does other things in between. */
async function takeAll(lines: readonly MetricsLine[], take: (line: MetricsLine) => void): Promise<void> {
  for (let from = 0; from < lines.length; from += linesAtOnce) {
    for (const line of lines.slice(from, from + linesAtOnce)) take(line);
    await nextTurn();
  }
}

function parse(text: string): MetricsLine | undefined {
  try {
    const line = JSON.parse(text) as unknown;
    return Array.isArray(line) && line.length === 9 && Array.isArray(line[8]) ? (line as unknown as MetricsLine) : undefined;
  } catch {
    return undefined;
  }
}
