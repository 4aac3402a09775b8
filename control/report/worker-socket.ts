/** A unix socket on which nginx's workers deliver what they gathered. */

import { chmodSync, chownSync, existsSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";

export interface WorkerSocket {
  stop(): Promise<void>;
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
