/** A unix socket on which nginx's workers deliver what they gathered. */

import { chmodSync, chownSync, existsSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";

export interface WorkerSocket {
  stop(): Promise<void>;
}

/** Names that are remembered; a worker has one delivery of a kind under way. */
const mostNames = 4096;

/** Names of deliveries that were taken: a worker that waits too long for its answer sends the same again. */
export class Deliveries {
  readonly #names = new Set<string>();

  has(name: string): boolean {
    return this.#names.has(name);
  }

  add(name: string): void {
    this.#names.add(name);
    const [oldest] = this.#names;
    if (this.#names.size > mostNames && oldest !== undefined) this.#names.delete(oldest);
  }
}

/** `user`: of the workers; undefined: our own. Rejects when the socket cannot be made. */
export function listenToWorkers(path: string, user: string | undefined, serve: (socket: Socket) => void): Promise<WorkerSocket> {
  if (existsSync(path)) rmSync(path);
  const server = createServer(serve);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      // connecting is writing: nobody else may bring anything
      chmodSync(path, 0o600);
      const id = user === undefined ? undefined : userId(user);
      if (id !== undefined) chownSync(path, id, 0);
      resolve({ stop: () => stop(server) });
    });
  });
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function userId(name: string): number | undefined {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((l) => l.startsWith(`${name}:`));
  const id = Number(line?.split(":")[2]);
  return Number.isInteger(id) ? id : undefined;
}
