/**
 * One kind at one API path: lists it, watches it, and goes on doing so whatever happens. Keeps only versions of what it
 * has seen, so that a new list becomes the upserts and deletes that were missed.
 */

import type { Clock } from "../run/clock.ts";
import type { Logger } from "../run/logger.ts";
import { ApiError, type ApiServer, apiErrorOf, type Query } from "./api-server.ts";
import { Backoff, type BackoffLimits } from "./backoff.ts";
import { linesOf } from "./lines.ts";

export interface RawObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

export interface ReflectorSink {
  upsert(object: RawObject): void;
  remove(namespace: string, name: string): void;
  /** Everything has been listed (again). */
  listed(): void;
  /** The API server refuses (403) what this kind needs; retried later on. */
  refused(): void;
}

export interface ReflectorOptions {
  /** For logs, e.g. "ingresses". */
  readonly label: string;
  readonly path: string;
  /** Selectors. */
  readonly query: Query;
  readonly api: ApiServer;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly backoff: BackoffLimits;
  readonly sink: ReflectorSink;
}

interface WatchEvent {
  readonly type: string;
  readonly object: RawObject & { readonly code?: number; readonly message?: string };
}

interface ListBody {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items?: readonly RawObject[];
}

const pageSize = 500;
/** A server that ignores sendInitialEvents sends no mark of their end. */
const initialMs = 30_000;
const graceSeconds = 30;

export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #abort = new AbortController();
  readonly #backoff: Backoff;
  /** Key → resourceVersion of everything there is. */
  readonly #versions = new Map<string, string>();
  /** Where the watch goes on; undefined: list first. */
  #resumeFrom: string | undefined;
  #watchList = true;
  #refused = false;
  #lastContact = 0;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.backoff);
  }

  /** Milliseconds since the epoch; 0: never. */
  get lastContact(): number {
    return this.#lastContact;
  }

  stop(): void {
    this.#abort.abort();
  }

  /** Resolves after stop(). */
  async run(): Promise<void> {
    const { signal } = this.#abort;
    const { clock } = this.#options;
    while (!signal.aborted) {
      const began = clock.now();
      let retryAfterMs = 0;
      try {
        if (this.#resumeFrom === undefined && !this.#watchList) await this.#list();
        await this.#watch();
      } catch (error) {
        if (signal.aborted) return;
        const failure = apiErrorOf(error);
        if (this.#fallsBack(failure)) continue;
        retryAfterMs = failure.retryAfterMs;
        this.#failed(failure);
      }
      await clock.pause(this.#backoff.next(clock.now() - began, retryAfterMs), signal);
    }
  }

  /** WatchList is refused as an invalid request by servers that do not have it. */
  #fallsBack(failure: ApiError): boolean {
    if (!this.#watchList || this.#resumeFrom !== undefined || (failure.status !== 400 && failure.status !== 422)) return false;
    this.#watchList = false;
    return true;
  }

  #failed(failure: ApiError): void {
    const { logger, label, sink } = this.#options;
    if (failure.status === 410) {
      this.#resumeFrom = undefined;
      logger.debug(2, "watch expired, listing again", { kind: label });
    } else if (failure.status === 403) {
      if (!this.#refused) logger.warning("the API server refuses to list or watch", { kind: label, path: this.#options.path });
      this.#refused = true;
      sink.refused();
    } else {
      logger.warning("list or watch failed, trying again", { kind: label, error: failure });
    }
  }

  async #list(): Promise<void> {
    const { api, path, query } = this.#options;
    const seen = new Set<string>();
    let token = "";
    let paged = true;
    for (;;) {
      let body: ListBody;
      try {
        // Without resourceVersion: with resourceVersion=0 the API server's cache ignores the limit.
        const page: Query = { ...query, ...(paged ? { limit: String(pageSize) } : {}), ...(token === "" ? {} : { continue: token }) };
        body = (await api.get(path, page, this.#abort.signal)) as ListBody;
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 410 || token === "") throw error;
        // The list grew too old between two pages: one list in one piece.
        paged = false;
        token = "";
        seen.clear();
        continue;
      }
      this.#lastContact = this.#options.clock.now();
      for (const object of body.items ?? []) seen.add(this.#put(object));
      token = body.metadata.continue ?? "";
      if (token !== "") continue;
      this.#replaced(seen);
      this.#resumeFrom = body.metadata.resourceVersion;
      return;
    }
  }

  async #watch(): Promise<void> {
    const { api, path, query } = this.#options;
    // Different for each watch, so that they do not all end at once.
    const timeoutSeconds = 300 + Math.floor(Math.random() * 300);
    const initial = this.#resumeFrom === undefined ? new Set<string>() : undefined;
    const start: Query =
      initial === undefined ? { resourceVersion: this.#resumeFrom! } : { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" };
    const { signal } = this.#abort;
    const stream = await api.stream(path, {
      ...query,
      watch: "1",
      allowWatchBookmarks: "true",
      timeoutSeconds: String(timeoutSeconds),
      ...start,
    });
    const end = () => stream.destroy(new Error("stopped"));
    if (signal.aborted) end();
    signal.addEventListener("abort", end);
    // A half-open connection would be waited for for ever.
    const deadline = setTimeout(
      () => stream.destroy(new Error("the server did not end the watch in time")),
      (timeoutSeconds + graceSeconds) * 1000,
    );
    const unfinished = setTimeout(() => {
      if (initial === undefined || this.#resumeFrom !== undefined) return;
      this.#watchList = false;
      stream.destroy(new Error("no end of the initial events"));
    }, initialMs);
    try {
      for await (const line of linesOf(stream)) {
        this.#lastContact = this.#options.clock.now();
        if (initial !== undefined && this.#resumeFrom === undefined) unfinished.refresh();
        this.#event(JSON.parse(line) as WatchEvent, initial);
      }
    } finally {
      clearTimeout(deadline);
      clearTimeout(unfinished);
      signal.removeEventListener("abort", end);
      stream.destroy();
    }
  }

  #event(event: WatchEvent, initial: Set<string> | undefined): void {
    const { object } = event;
    switch (event.type) {
      case "ADDED":
      case "MODIFIED": {
        const key = this.#put(object);
        if (this.#resumeFrom === undefined) initial?.add(key);
        break;
      }
      case "DELETED":
        this.#remove(keyOf(object));
        if (this.#resumeFrom === undefined) initial?.delete(keyOf(object));
        break;
      case "BOOKMARK":
        if (this.#resumeFrom === undefined) {
          if (object.metadata.annotations?.["k8s.io/initial-events-end"] !== "true") return;
          this.#replaced(initial ?? new Set());
        }
        this.#resumeFrom = object.metadata.resourceVersion;
        return;
      case "ERROR":
        throw new ApiError(object.message ?? "error in the watch", object.code, 0);
      default:
        throw new ApiError(`unknown event ${event.type} in the watch`, undefined, 0);
    }
    // Versions of the initial events are in no order: nothing to resume from before their end.
    if (this.#resumeFrom !== undefined) this.#resumeFrom = object.metadata.resourceVersion;
  }

  #put(object: RawObject): string {
    const key = keyOf(object);
    const { resourceVersion } = object.metadata;
    if (this.#versions.get(key) !== resourceVersion) {
      this.#versions.set(key, resourceVersion);
      this.#options.sink.upsert(object);
    }
    return key;
  }

  #remove(key: string): void {
    if (!this.#versions.delete(key)) return;
    const slash = key.indexOf("/");
    this.#options.sink.remove(key.slice(0, slash), key.slice(slash + 1));
  }

  #replaced(seen: ReadonlySet<string>): void {
    for (const key of [...this.#versions.keys()]) {
      if (!seen.has(key)) this.#remove(key);
    }
    this.#refused = false;
    this.#options.sink.listed();
  }
}

function keyOf(object: RawObject): string {
  return `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
}
