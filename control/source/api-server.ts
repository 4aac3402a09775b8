/** Talking to the Kubernetes API: one keep-alive agent, credentials read again every minute. */

import { readFileSync } from "node:fs";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent, type RequestOptions } from "node:https";
import type { Readable } from "node:stream";
import type { KubeConfig } from "@kubernetes/client-node";
import got, { type Options as GotOptions, HTTPError } from "got";

export type Query = Readonly<Record<string, string>>;

export class ApiError extends Error {
  /** HTTP status, or the code of an ERROR event; undefined when there was no answer. */
  readonly status: number | undefined;
  /** What Retry-After asks for. */
  readonly retryAfterMs: number;

  constructor(message: string, status: number | undefined, retryAfterMs: number) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

export interface ApiServer {
  readonly url: string;
  /** The parsed body. Rejects with ApiError. */
  get(path: string, query: Query, signal: AbortSignal): Promise<unknown>;
  /** The parsed answer. A patch is a merge patch. Rejects with ApiError. */
  send(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, body: unknown, signal?: AbortSignal): Promise<unknown>;
  /** The body as it comes. The stream's errors go through apiErrorOf. */
  stream(path: string, query: Query): Promise<Readable>;
  close(): void;
}

interface Credentials {
  readonly readAt: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: { readonly http?: HttpAgent; readonly https?: HttpsAgent };
  /** Equal texts: the same TLS settings, so that the agent and its connections can stay. */
  readonly tls: string;
}

const credentialsMs = 60_000;

/** Milliseconds. */
export interface ApiTimeouts {
  readonly connect: number;
  /** Until the head of a watch comes. */
  readonly head: number;
  /** Between two pieces of a list: the API server itself takes up to a minute, and a large page may come slowly. */
  readonly idle: number;
}

const defaultTimeouts: ApiTimeouts = { connect: 10_000, head: 30_000, idle: 70_000 };

export function connectApiServer(config: KubeConfig, timeouts: ApiTimeouts = defaultTimeouts): ApiServer {
  const cluster = config.getCurrentCluster();
  if (cluster === null || cluster === undefined) throw new Error("the kubeconfig names no cluster");
  const url = cluster.server.replace(/\/+$/, "");
  let current: Credentials | undefined;
  let stale = false;

  async function credentials(): Promise<Credentials> {
    if (current === undefined || stale || Date.now() - current.readAt >= credentialsMs) {
      current = await readCredentials(config, current);
      stale = false;
    }
    return current;
  }

  async function options(query: Query): Promise<GotOptions> {
    const { headers, agent } = await credentials();
    return {
      searchParams: { ...query },
      headers: { ...headers, accept: "application/json" },
      agent,
      retry: { limit: 0 },
      followRedirect: false,
      timeout: { connect: timeouts.connect, secureConnect: timeouts.connect, response: timeouts.head },
    } as unknown as GotOptions;
  }

  function failed(error: unknown): ApiError {
    const failure = apiErrorOf(error);
    // Without a status: the certificate authority may have changed.
    if (failure.status === 401 || failure.status === undefined) stale = true;
    return failure;
  }

  return {
    url,
    async get(path, query, signal) {
      const base = await options(query);
      try {
        const { connect, idle } = timeouts;
        const timeout = { connect, secureConnect: connect, response: idle, socket: idle, request: 10 * idle };
        const response = await got(`${url}${path}`, {
          ...base,
          timeout,
          signal,
          isStream: false,
          resolveBodyOnly: false,
          responseType: "text",
        } as const);
        return JSON.parse(response.body as string);
      } catch (error) {
        throw failed(error);
      }
    },
    async send(method, path, body, signal) {
      const base = await options({});
      const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
      try {
        const response = await got(`${url}${path}`, {
          ...base,
          method,
          body: JSON.stringify(body),
          headers: { ...base.headers, "content-type": type },
          timeout: { connect: 10_000, secureConnect: 10_000, request: 10_000 },
          ...(signal === undefined ? {} : { signal }),
          isStream: false,
          resolveBodyOnly: false,
          responseType: "text",
        } as const);
        return JSON.parse(response.body as string);
      } catch (error) {
        throw failed(error);
      }
    },
    async stream(path, query) {
      // Never with a signal: got 14 keeps its abort listener after the stream's end, and a later abort would crash the process.
      const stream = got.stream(`${url}${path}`, { ...(await options(query)), isStream: true } as const);
      stream.on("error", (error) => failed(error));
      return stream;
    },
    close() {
      current?.agent.http?.destroy();
      current?.agent.https?.destroy();
    },
  };
}

export function apiErrorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof HTTPError) {
    const { statusCode, headers } = error.response;
    const seconds = Number(headers["retry-after"]);
    return new ApiError(`answered ${statusCode}`, statusCode, Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0);
  }
  return new ApiError((error as Error).message, undefined, 0);
}

async function readCredentials(config: KubeConfig, former: Credentials | undefined): Promise<Credentials> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value);
  // The library keeps the token for a minute; after a 401 the file may hold a new one.
  const tokenFile = config.getCurrentUser()?.authProvider?.config?.tokenFile as string | undefined;
  if (tokenFile !== undefined) headers.authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`;
  if (typeof options.auth === "string") headers.authorization = `Basic ${Buffer.from(options.auth).toString("base64")}`;
  const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername } = options;
  const material = { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername };
  const tls = JSON.stringify(material);
  const readAt = Date.now();
  if (former?.tls === tls) return { ...former, readAt, headers };
  // The former agent is left to its running requests; its idle sockets close by themselves.
  const cluster = config.getCurrentCluster()!;
  if (cluster.proxyUrl) return { readAt, headers, tls, agent: { http: options.agent as HttpAgent, https: options.agent as HttpsAgent } };
  const agent = cluster.server.startsWith("http:")
    ? { http: new HttpAgent({ keepAlive: true }) }
    : { https: new HttpsAgent({ keepAlive: true, ...definedOf(material) }) };
  return { readAt, headers, tls, agent };
}

/** Without the keys that are undefined: to an agent they would mean something. */
function definedOf<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}
