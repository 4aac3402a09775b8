import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { KubeConfig } from "@kubernetes/client-node";

export interface Call {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly response: ServerResponse;
}

type Raw = { metadata: { name: string; namespace?: string; resourceVersion?: string } & Record<string, unknown> } & Record<string, unknown>;

interface Change {
  readonly version: number;
  readonly type: string;
  readonly path: string;
  readonly object: Raw;
}

/** An API server as far as list and watch go; `intercept` may answer a call in its place. */
export class FakeApi {
  readonly calls: Call[] = [];
  /** True: the call has been answered. */
  intercept: (call: Call) => boolean = () => false;
  watchList = true;
  readonly #objects = new Map<string, Map<string, Raw>>();
  readonly #history: Change[] = [];
  readonly #watches = new Set<{ readonly path: string; readonly response: ServerResponse }>();
  readonly #waiting = new Set<() => void>();
  readonly #server: Server;
  #version = 100;

  constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  async listen(): Promise<KubeConfig> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const config = new KubeConfig();
    const server = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    config.loadFromClusterAndUser({ name: "fake", server, skipTLSVerify: true }, { name: "tester", token: "secret-token" });
    return config;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  put(path: string, object: Raw): void {
    const objects = this.#at(path);
    const key = `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
    this.#record(objects.has(key) ? "MODIFIED" : "ADDED", path, object);
    objects.set(key, object);
  }

  remove(path: string, key: string): void {
    const objects = this.#at(path);
    const object = objects.get(key)!;
    objects.delete(key);
    this.#record("DELETED", path, { ...object, metadata: { ...object.metadata } });
  }

  bookmark(path: string): void {
    this.#version += 1;
    this.sendLine(path, JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion: String(this.#version) } } }));
  }

  sendLine(path: string, line: string): void {
    for (const watch of this.#watches) if (watch.path === path) watch.response.write(`${line}\n`);
  }

  /** Ends the open watches of that path; "reset" breaks their connections. */
  endWatches(path: string, how: "clean" | "reset" = "clean"): void {
    for (const watch of [...this.#watches]) {
      if (watch.path !== path) continue;
      this.#watches.delete(watch);
      if (how === "reset") watch.response.socket?.destroy();
      else watch.response.end();
    }
  }

  forgetHistory(): void {
    this.#history.length = 0;
  }

  callsTo(path: string, kind: "list" | "watch"): Call[] {
    return this.calls.filter((call) => call.path === path && call.query.has("watch") === (kind === "watch"));
  }

  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!condition()) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }

  #at(path: string): Map<string, Raw> {
    let objects = this.#objects.get(path);
    if (objects === undefined) {
      objects = new Map();
      this.#objects.set(path, objects);
    }
    return objects;
  }

  #record(type: string, path: string, object: Raw): void {
    this.#version += 1;
    object.metadata.resourceVersion = String(this.#version);
    const change = { version: this.#version, type, path, object };
    this.#history.push(change);
    this.sendLine(path, JSON.stringify({ type, object }));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url!, "http://fake");
    const call: Call = { path: url.pathname, query: url.searchParams, headers: request.headers, response };
    this.calls.push(call);
    if (!this.intercept(call)) {
      if (call.query.has("watch")) this.#watch(call);
      else this.#list(call);
    }
    for (const check of [...this.#waiting]) check();
  }

  #list(call: Call): void {
    const items = [...this.#at(call.path).values()];
    const limit = Number(call.query.get("limit") ?? items.length) || items.length;
    const from = Number(call.query.get("continue") ?? 0);
    const next = from + limit;
    const metadata = { resourceVersion: String(this.#version), ...(next < items.length ? { continue: String(next) } : {}) };
    call.response.setHeader("content-type", "application/json");
    call.response.end(JSON.stringify({ metadata, items: items.slice(from, next) }));
  }

  #watch(call: Call): void {
    const { path, query, response } = call;
    const initial = query.get("sendInitialEvents") === "true";
    if (initial && !this.watchList) {
      fail(response, 422);
      return;
    }
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    const send = (type: string, object: unknown) => response.write(`${JSON.stringify({ type, object })}\n`);
    if (initial) {
      for (const object of this.#at(path).values()) send("ADDED", object);
      send("BOOKMARK", { metadata: { resourceVersion: String(this.#version), annotations: { "k8s.io/initial-events-end": "true" } } });
    } else {
      const since = Number(query.get("resourceVersion"));
      for (const change of this.#history) if (change.path === path && change.version > since) send(change.type, change.object);
    }
    const watch = { path, response };
    this.#watches.add(watch);
    response.on("close", () => this.#watches.delete(watch));
  }
}

export function fail(response: ServerResponse, status: number, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ kind: "Status", code: status, message: `fake ${status}` }));
}
