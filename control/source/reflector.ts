/**
 * One kind at one API path: lists it, watches it, and goes on doing so whatever happens. Keeps only versions of what it
 * has seen, so that a new list becomes the upserts and deletes that were missed.
 */

import type { Clock } from "../run/clock.ts";
import type { Logger } from "../run/logger.ts";
import { ApiError, type ApiServer, apiErrorOf, type Query } from "./api-server.ts";
import { Backoff, type BackoffLimits } from "./backoff.ts";
import { linesOf } from "./lines.ts";
import { isOlder, keyOf, type Versioned, Versions } from "./versions.ts";

export interface RawObject extends Versioned {
  readonly metadata: Versioned["metadata"] & { readonly annotations?: Readonly<Record<string, string>> };
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
  /** Everything is listed anew after so long; milliseconds, 0: never. */
  readonly resyncMs: number;
  readonly limits: WatchLimits;
  readonly sink: ReflectorSink;
}

/** Milliseconds. */
export interface WatchLimits {
  /** The server sends a bookmark about every minute; a watch that is silent for so long may be half-open. */
  readonly silenceMs: number;
  /** A server that ignores sendInitialEvents sends no mark of their end. */
  readonly initialMs: number;
}

export const defaultWatchLimits: WatchLimits = { silenceMs: 180_000, initialMs: 30_000 };

interface WatchEvent {
  readonly type: string;
  readonly object: RawObject & { readonly code?: number; readonly message?: string };
}

interface ListBody {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items?: readonly RawObject[];
}

/** A list that may be half read: it goes on with its token after a failure. */
interface Listing {
  readonly seen: Set<string>;
  readonly paged: boolean;
  token: string;
}

const pageSize = 500;
/** Timers that are told to wait longer fire at once. */
const longestMs = 2 ** 31 - 1;
/** Say nothing against the place where the watch resumes. */
const passing: ReadonlySet<number> = new Set([401, 403, 408, 429]);

export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #abort = new AbortController();
  readonly #backoff: Backoff;
  readonly #versions = new Versions();
  /** Where the watch goes on; undefined: list first. */
  #resumeFrom: string | undefined;
  #listing: Listing | undefined;
  #resync: NodeJS.Timeout | undefined;
  /** Ends the watch that is open, which is no failure. */
  #endFor: ((reason: string) => void) | undefined;
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
    clearTimeout(this.#resync);
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
    const { status = 0 } = failure;
    // Also where the API server is another than before and does not understand the place.
    if (status >= 400 && status < 500 && !passing.has(status)) this.#resumeFrom = undefined;
    if (failure.status === 410) {
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
    const { api, path, query, clock } = this.#options;
    this.#listing ??= { seen: new Set(), paged: true, token: "" };
    for (;;) {
      const { seen, paged, token }: Listing = this.#listing;
      let body: ListBody;
      try {
        // Without resourceVersion: with resourceVersion=0 the API server's cache ignores the limit.
        const page: Query = { ...query, ...(paged ? { limit: String(pageSize) } : {}), ...(token === "" ? {} : { continue: token }) };
        body = (await api.get(path, page, this.#abort.signal)) as ListBody;
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 410 || token === "") throw error;
        // The list grew too old between two pages: one list in one piece.
        this.#listing = { seen: new Set(), paged: false, token: "" };
        continue;
      }
      this.#lastContact = clock.now();
      for (const object of body.items ?? []) seen.add(this.#put(object));
      this.#listing.token = body.metadata.continue ?? "";
      if (this.#listing.token !== "") continue;
      this.#listing = undefined;
      this.#replaced(seen);
      this.#resumeFrom = body.metadata.resourceVersion;
      return;
    }
  }

  async #watch(): Promise<void> {
    const { api, path, query, clock, limits, label, logger } = this.#options;
    // Different for each watch, so that they do not all end at once.
    const timeoutSeconds = 300 + Math.floor(Math.random() * 300);
    const initial = this.#resumeFrom === undefined ? new Set<string>() : undefined;
    const start: Query =
      initial === undefined ? { resourceVersion: this.#resumeFrom! } : { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" };
    const { signal } = this.#abort;
    const more = { watch: "1", allowWatchBookmarks: "true", timeoutSeconds: String(timeoutSeconds) };
    const stream = await api.stream(path, { ...query, ...more, ...start });
    const end = () => stream.destroy(new Error("stopped"));
    if (signal.aborted) end();
    signal.addEventListener("abort", end);
    let endedFor = "";
    this.#endFor = (reason) => {
      endedFor = reason;
      stream.destroy();
    };
    const listen = () => setTimeout(() => this.#fellSilent(), this.#resumeFrom === undefined ? limits.initialMs : limits.silenceMs);
    let silent: NodeJS.Timeout | undefined;
    // Before there is an answer, the time limits of the request hold.
    stream.once("response", () => {
      silent = listen();
    });
    try {
      for await (const line of linesOf(stream)) {
        if (endedFor !== "") break;
        this.#lastContact = clock.now();
        this.#event(JSON.parse(line) as WatchEvent, initial);
        clearTimeout(silent);
        silent = listen();
      }
    } catch (error) {
      if (endedFor === "") throw error;
      logger.debug(2, endedFor, { kind: label });
    } finally {
      this.#endFor = undefined;
      clearTimeout(silent);
      signal.removeEventListener("abort", end);
      stream.destroy();
    }
  }

  #fellSilent(): void {
    if (this.#resumeFrom === undefined) this.#watchList = false;
    this.#endFor?.("the watch is silent, opening another");
  }

  #listAgain(): void {
    this.#resumeFrom = undefined;
    this.#endFor?.("listing again after --sync-period");
  }

  #event(event: WatchEvent, initial: Set<string> | undefined): void {
    const { object } = event;
    const isInitial = this.#resumeFrom === undefined;
    switch (event.type) {
      case "ADDED":
      case "MODIFIED":
        if (isInitial) initial?.add(this.#put(object));
        else if (this.#versions.changed(object)) this.#options.sink.upsert(object);
        break;
      case "DELETED":
        if (this.#versions.removed(object)) this.#options.sink.remove(object.metadata.namespace ?? "", object.metadata.name);
        initial?.delete(keyOf(object));
        break;
      case "BOOKMARK":
        if (isInitial) {
          if (object.metadata.annotations?.["k8s.io/initial-events-end"] !== "true") return;
          this.#replaced(initial ?? new Set());
          this.#resumeFrom = object.metadata.resourceVersion;
        }
        break;
      case "ERROR":
        throw new ApiError(object.message ?? "error in the watch", object.code, 0);
      default:
        throw new ApiError(`unknown event ${event.type} in the watch`, undefined, 0);
    }
    // Versions of the initial events are in no order: nothing to resume from before their end.
    if (this.#resumeFrom !== undefined && !isOlder(object.metadata.resourceVersion, this.#resumeFrom))
      this.#resumeFrom = object.metadata.resourceVersion;
  }

  #put(object: RawObject): string {
    if (this.#versions.listed(object)) this.#options.sink.upsert(object);
    return keyOf(object);
  }

  #replaced(seen: ReadonlySet<string>): void {
    const { resyncMs, sink } = this.#options;
    for (const key of this.#versions.keepOnly(seen)) {
      const slash = key.indexOf("/");
      sink.remove(key.slice(0, slash), key.slice(slash + 1));
    }
    clearTimeout(this.#resync);
    // Not all kinds at the same moment.
    if (resyncMs > 0) this.#resync = setTimeout(() => this.#listAgain(), Math.min(longestMs, resyncMs * (1 + Math.random() * 0.1)));
    this.#refused = false;
    sink.listed();
  }
}
