/**
 * A double of the API server, there to fail in the ways that a real one cannot be made to. Lists, watches, reads and
 * writes as far as the controller uses them; selectors by label are not looked at.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { KubeConfig } from "@kubernetes/client-node";
import { Waiting } from "./waiting.ts";

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly response: ServerResponse;
}

export type Raw = { metadata: { name: string; namespace?: string; resourceVersion?: string } & Record<string, unknown> } & Record<
  string,
  unknown
>;

interface Change {
  readonly version: number;
  readonly type: string;
  readonly path: string;
  readonly object: Raw;
}

/** A request's path in its parts; `path` is the one of all objects of the kind. */
interface Target {
  readonly path: string;
  readonly namespace: string;
  readonly name: string;
}

interface Watch {
  readonly target: Target;
  readonly response: ServerResponse;
  /** Half-open: the connection stays, nothing comes any more. */
  frozen: boolean;
}

export interface Identity {
  readonly cert: string;
  readonly key: string;
}

export class FakeApi {
  readonly calls: Call[] = [];
  /** True: the call has been answered, or never will be. */
  intercept: (call: Call) => boolean = () => false;
  watchList = true;
  /** Each event is followed by the last three of its kind once more, the newest first. */
  stutters = false;
  readonly #objects = new Map<string, Map<string, Raw>>();
  readonly #history: Change[] = [];
  readonly #watches = new Set<Watch>();
  readonly #waiting = new Waiting();
  readonly #snapshots = new Map<string, readonly Raw[]>();
  #server: Server | undefined;
  #port = 0;
  #secure = false;
  #version = 100;
  #compacted = 0;

  /** Also after close(), on the same port. */
  async listen(identity?: Identity): Promise<KubeConfig> {
    const answer = (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, response);
    const server = identity === undefined ? createServer(answer) : createTlsServer({ ...identity }, answer);
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(this.#port, "127.0.0.1", resolve));
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
    this.#secure = identity !== undefined;
    const config = new KubeConfig();
    config.loadFromClusterAndUser({ name: "fake", server: this.url, skipTLSVerify: true }, { name: "tester", token: "secret-token" });
    return config;
  }

  get url(): string {
    return this.#secure ? `https://localhost:${this.#port}` : `http://127.0.0.1:${this.#port}`;
  }

  /** Connections are refused from now on. */
  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  put(path: string, object: Raw): string {
    const objects = this.#at(path);
    const key = keyOf(object);
    const type = objects.has(key) ? "MODIFIED" : "ADDED";
    objects.set(key, object);
    this.#record(type, path, object);
    return object.metadata.resourceVersion!;
  }

  remove(path: string, key: string): void {
    const objects = this.#at(path);
    const object = objects.get(key)!;
    objects.delete(key);
    this.#record("DELETED", path, { ...object, metadata: { ...object.metadata } });
  }

  get(path: string, key: string): Raw | undefined {
    return this.#at(path).get(key);
  }

  all(path: string): readonly Raw[] {
    return [...this.#at(path).values()];
  }

  bookmark(path: string): void {
    this.#version += 1;
    this.sendLine(path, JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion: String(this.#version) } } }));
  }

  sendLine(path: string, line: string): void {
    this.sendText(path, `${line}\n`);
  }

  sendText(path: string, text: string): void {
    for (const watch of this.#watches) if (watch.target.path === path && !watch.frozen) watch.response.write(text);
  }

  /** Ends the open watches of that path, or all; "reset" breaks their connections. */
  endWatches(path: string | undefined, how: "clean" | "reset" = "clean"): void {
    for (const watch of [...this.#watches]) {
      if (path !== undefined && watch.target.path !== path) continue;
      this.#watches.delete(watch);
      if (how === "reset") watch.response.socket?.destroy();
      else watch.response.end();
    }
  }

  /** The watches that are open now say nothing more. */
  freezeWatches(): void {
    for (const watch of this.#watches) watch.frozen = true;
  }

  /** As etcd's compaction: no watch resumes from before now. */
  forgetHistory(): void {
    this.#history.length = 0;
    this.#compacted = this.#version;
  }

  /** Lists that are half read cannot be read on. */
  expireTokens(): void {
    this.#snapshots.clear();
  }

  callsTo(path: string, kind: "list" | "watch"): Call[] {
    return this.calls.filter((call) => call.path === path && call.query.has("watch") === (kind === "watch"));
  }

  /** Resolves when the condition holds after a request. */
  until(condition: () => boolean): Promise<void> {
    return this.#waiting.until(condition);
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
    // As text: the caller's object may be written again.
    const change = { version: this.#version, type, path, object: structuredClone(object) };
    this.#history.push(change);
    this.#tell(change);
    if (!this.stutters) return;
    const former = this.#history.filter((one) => one.path === path).slice(-3);
    for (const one of former.reverse()) this.#tell(one);
  }

  #tell({ type, path, object }: Change): void {
    for (const { target, response, frozen } of this.#watches) {
      if (target.path === path && !frozen && matches(target, object)) response.write(`${JSON.stringify({ type, object })}\n`);
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, "http://fake");
    const call: Call = { method: request.method!, path: url.pathname, query: url.searchParams, headers: request.headers, response };
    this.calls.push(call);
    if (!this.intercept(call)) {
      const target = targetOf(url);
      if (call.method !== "GET") this.#write(call, target, JSON.parse((await bodyOf(request)) || "{}") as Raw);
      else if (call.query.has("watch")) this.#watch(call, target);
      else if (/^metadata.name=/.test(url.searchParams.get("fieldSelector") ?? "") || target.name === "") this.#list(call, target);
      else this.#read(response, target);
    }
    this.#waiting.wake();
  }

  #read(response: ServerResponse, { path, namespace, name }: Target): void {
    const object = this.get(path, `${namespace}/${name}`);
    if (object === undefined) fail(response, 404);
    else send(response, 200, object);
  }

  #write({ method, response }: Call, target: Target, body: Raw): void {
    const { path, namespace } = target;
    const key = `${namespace}/${target.name === "" ? body.metadata.name : target.name}`;
    const former = this.get(path, key);
    if (method === "POST" ? former !== undefined : former === undefined) {
      fail(response, method === "POST" ? 409 : 404);
      return;
    }
    const asked = body.metadata?.resourceVersion;
    if (former !== undefined && asked !== undefined && asked !== former.metadata.resourceVersion) {
      fail(response, 409);
      return;
    }
    if (method === "DELETE") this.remove(path, key);
    else if (method === "PATCH") this.put(path, { ...former!, ...body, metadata: { ...former!.metadata, ...body.metadata } });
    else this.put(path, { ...body, metadata: { uid: key, namespace, ...body.metadata } });
    send(response, method === "POST" ? 201 : 200, this.get(path, key) ?? {});
  }

  #list(call: Call, target: Target): void {
    const [token = "", offset = "0"] = (call.query.get("continue") ?? "").split("-");
    if (token !== "" && !this.#snapshots.has(token)) {
      fail(call.response, 410);
      return;
    }
    const version = token === "" ? String(this.#version) : token;
    const items = this.#snapshots.get(token) ?? [...this.#at(target.path).values()].filter((object) => matches(target, object));
    const limit = Number(call.query.get("limit") ?? items.length) || items.length;
    const next = Number(offset) + limit;
    const more = next < items.length;
    if (more) this.#snapshots.set(version, items);
    const metadata = { resourceVersion: version, ...(more ? { continue: `${version}-${next}` } : {}) };
    send(call.response, 200, { metadata, items: items.slice(Number(offset), next) });
  }

  #watch(call: Call, target: Target): void {
    const { query, response } = call;
    const initial = query.get("sendInitialEvents") === "true";
    const since = Number(query.get("resourceVersion"));
    if (initial ? !this.watchList : since < this.#compacted) {
      fail(response, initial ? 422 : 410);
      return;
    }
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    const line = (type: string, object: unknown) => response.write(`${JSON.stringify({ type, object })}\n`);
    if (initial) {
      for (const object of this.#at(target.path).values()) if (matches(target, object)) line("ADDED", object);
      line("BOOKMARK", { metadata: { resourceVersion: String(this.#version), annotations: { "k8s.io/initial-events-end": "true" } } });
    } else {
      for (const { version, type, path, object } of this.#history)
        if (path === target.path && version > since && matches(target, object)) line(type, object);
    }
    const watch = { target, response, frozen: false };
    this.#watches.add(watch);
    response.on("close", () => this.#watches.delete(watch));
  }
}

export function fail(response: ServerResponse, status: number, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ kind: "Status", code: status, message: `fake ${status}` }));
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function keyOf({ metadata }: Raw): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

function targetOf({ pathname, searchParams }: URL): Target {
  const parts = /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/status)?$/.exec(pathname);
  const [, root = "", namespace = "", plural = "", name = ""] = parts ?? [];
  const selected = /^metadata\.name=(.+)$/.exec(searchParams.get("fieldSelector") ?? "")?.[1];
  return { path: `${root}/${plural}`, namespace, name: selected ?? name };
}

function matches({ namespace, name }: Target, { metadata }: Raw): boolean {
  return (namespace === "" || namespace === metadata.namespace) && (name === "" || name === metadata.name);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
