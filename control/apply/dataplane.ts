/** Client of /configuration: the unix socket on which the running nginx takes documents. */

import { Agent } from "node:http";
import got, { type Got, RequestError } from "got";
import { type BatchAnswer, type ExpressionsAnswer, paths, type StateDocument } from "../../lua-src/wire.ts";
import type { Kind } from "./applied.ts";

/** What changed of one kind: document text by key, and keys that are gone. */
export interface Delta {
  readonly upsert: ReadonlyMap<string, string>;
  readonly remove: readonly string[];
}

export interface Deltas {
  readonly hosts?: Delta;
  readonly backends?: Delta;
  readonly certificates?: Delta;
  readonly servers?: Delta;
  readonly users?: Delta;
  readonly networks?: Delta;
  /** JSON text. */
  readonly general?: string;
}

/** The data plane answered, but not as hoped; `full` is its word for "out of shared memory". */
export class DataPlaneError extends Error {
  readonly status: number;
  readonly full: boolean;
  constructor(what: string, status: number, body: string) {
    super(`${what}: the data plane answered ${status} ${body.slice(0, 300)}`);
    this.name = "DataPlaneError";
    this.status = status;
    this.full = status === 507;
  }
}

export class DataPlane {
  readonly #client: Got;
  #agent = oneConnection();

  constructor(socket: string) {
    this.#client = got.extend({
      prefixUrl: `http://unix:${socket}:`,
      enableUnixSockets: true,
      retry: { limit: 0 },
      timeout: { request: 30_000 },
      throwHttpErrors: false,
      headers: { "content-type": "application/json" },
    });
  }

  /**
   * Looks for a worker that has this conf; true when one has answered, and all that follows goes to it. Workers of the
   * conf before answer on the socket too until they leave, and what is sent to them may be lost with their memory.
   */
  async connect(conf: string): Promise<boolean> {
    this.#agent.destroy();
    this.#agent = oneConnection();
    return (await this.#state(this.#agent))?.conf === conf;
  }

  /** Undefined when nothing answers on the socket. */
  state(): Promise<StateDocument | undefined> {
    return this.#state(this.#agent);
  }

  async #state(agent: Agent): Promise<StateDocument | undefined> {
    try {
      const answer = await this.#client.get(paths.state.slice(1), { agent: { http: agent }, timeout: { request: 2000 } });
      return answer.statusCode === 200 ? (JSON.parse(answer.body) as StateDocument) : undefined;
    } catch (error) {
      if (error instanceof RequestError || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  async patch(version: number, deltas: Deltas): Promise<BatchAnswer> {
    const answer = await this.#client.patch(paths.configuration.slice(1), {
      body: batchText(version, deltas),
      agent: { http: this.#agent },
    });
    if (answer.statusCode !== 200) throw new DataPlaneError("PATCH", answer.statusCode, answer.body);
    return JSON.parse(answer.body) as BatchAnswer;
  }

  /** PCRE's words by expression on those that it refuses. On a connection of its own: nobody waits for a batch. */
  async refusedExpressions(expressions: readonly string[], timeout: number): Promise<ReadonlyMap<string, string>> {
    const answer = await this.#client.post(paths.expressions.slice(1), {
      body: JSON.stringify(expressions),
      timeout: { request: timeout },
    });
    if (answer.statusCode !== 200) throw new DataPlaneError("POST", answer.statusCode, answer.body);
    return new Map(Object.entries((JSON.parse(answer.body) as ExpressionsAnswer).refused));
  }

  /** What the data plane holds, by key. */
  async keys(): Promise<Readonly<Record<Kind, readonly string[]>>> {
    const hosts = (await this.#get(paths.routes)) as readonly { readonly name: string }[];
    const backends = (await this.#get(paths.backends)) as readonly { readonly name: string }[];
    const servers = (await this.#get(paths.servers)) as {
      readonly servers: Readonly<Record<string, string>>;
      readonly users?: readonly string[];
      readonly networks?: readonly string[];
    };
    return {
      hosts: hosts.map((h) => h.name),
      backends: backends.map((b) => b.name),
      servers: Object.keys(servers.servers),
      certificates: [...new Set(Object.values(servers.servers))],
      users: servers.users ?? [],
      networks: servers.networks ?? [],
    };
  }

  async #get(path: string): Promise<unknown> {
    const answer = await this.#client.get(path.slice(1), { agent: { http: this.#agent } });
    if (answer.statusCode !== 200) throw new DataPlaneError(`GET ${path}`, answer.statusCode, answer.body);
    return JSON.parse(answer.body) as unknown;
  }

  close(): void {
    this.#agent.destroy();
  }
}

function oneConnection(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 });
}

/** The documents are JSON text already (certificates, servers, users and networks plain text): put together without parsing them again. */
function batchText(version: number, deltas: Deltas): string {
  const parts = [`"version":${version}`];
  const kind = (name: string, delta: Delta | undefined, plain: boolean) => {
    if (delta === undefined || (delta.upsert.size === 0 && delta.remove.length === 0)) return;
    const entries: string[] = [];
    for (const [key, text] of delta.upsert) entries.push(`${JSON.stringify(key)}:${plain ? JSON.stringify(text) : text}`);
    const inner: string[] = [];
    if (entries.length > 0) inner.push(`"upsert":{${entries.join(",")}}`);
    if (delta.remove.length > 0) inner.push(`"remove":${JSON.stringify(delta.remove)}`);
    parts.push(`"${name}":{${inner.join(",")}}`);
  };
  kind("certificates", deltas.certificates, true);
  kind("servers", deltas.servers, true);
  kind("users", deltas.users, true);
  kind("networks", deltas.networks, true);
  kind("backends", deltas.backends, false);
  kind("hosts", deltas.hosts, false);
  if (deltas.general !== undefined) parts.push(`"general":${deltas.general}`);
  return `{${parts.join(",")}}`;
}
