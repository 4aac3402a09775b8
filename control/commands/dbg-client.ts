/** Asks the running data plane over its unix socket, and the controller on its health port. */

import got from "got";
import { layoutOf } from "../run/layout.ts";

export interface Reply {
  readonly status: number;
  readonly body: string;
}

export interface DbgClient {
  readonly confFile: string;
  /** Path and query of the data plane, e.g. /configuration/backends. Rejects with a sentence when nobody answers. */
  dataPlane(path: string, query?: readonly (readonly [string, string])[]): Promise<Reply>;
  controller(path: string): Promise<Reply>;
}

export interface DbgAddress {
  readonly runtimeDir: string;
  readonly healthzPort: number;
}

export function connectDbg(address: DbgAddress): DbgClient {
  const { socket, confFile } = layoutOf(address.runtimeDir);
  const client = got.extend({ enableUnixSockets: true, retry: { limit: 0 }, throwHttpErrors: false, timeout: { request: 30_000 } });

  async function ask(url: string, who: string): Promise<Reply> {
    try {
      const { statusCode, body } = await client.get(url, { responseType: "text" });
      return { status: statusCode, body };
    } catch (error) {
      throw new Error(`cannot reach ${who}: ${(error as Error).message}`);
    }
  }

  return {
    confFile,
    dataPlane: (path, query = []) => {
      const text = new URLSearchParams([...query] as [string, string][]).toString();
      return ask(`http://unix:${socket}:${path}${text === "" ? "" : `?${text}`}`, `the data plane at ${socket}`);
    },
    controller: (path) => {
      const url = `http://127.0.0.1:${address.healthzPort}${path}`;
      return ask(url, `the controller at ${url}`);
    },
  };
}
