/** A Kubernetes API server as the source of objects: one reflector per kind, events delivered in one batch per turn of the event loop. */

import type { KubeConfig } from "@kubernetes/client-node";
import type { Finding } from "../model/finding.ts";
import { refKey } from "../model/ids.ts";
import { type Clock, systemClock } from "../run/clock.ts";
import type { Logger } from "../run/logger.ts";
import { type ApiServer, type ApiTimeouts, connectApiServer, type Query } from "./api-server.ts";
import { type BackoffLimits, defaultBackoff } from "./backoff.ts";
import { kindRows, reduceObject } from "./kinds.ts";
import { defaultWatchLimits, type RawObject, Reflector, type WatchLimits } from "./reflector.ts";
import type { KindName, Sink, Source, SourceEvent } from "./source.ts";

/** What one reflector follows. */
export interface Followed {
  readonly kind: KindName;
  /** Empty: all namespaces, or a cluster-scoped kind. */
  readonly namespace: string;
  readonly query: Query;
  /** Refused by RBAC it counts as listed and empty. */
  readonly dispensable: boolean;
}

export interface Wanted {
  readonly kinds: readonly KindName[];
  /** --watch-namespace; empty: all. */
  readonly namespace: string;
  /** Single objects of other namespaces that flags name. With a Service come its EndpointSlices. */
  readonly extras: readonly { readonly kind: KindName; readonly namespace: string; readonly name: string }[];
}

export function followedFor(wanted: Wanted): Followed[] {
  const followed: Followed[] = wanted.kinds.map((kind): Followed => {
    const { namespaced, dispensable, labelSelector } = kindRows[kind];
    return {
      kind,
      namespace: namespaced ? wanted.namespace : "",
      dispensable,
      query: labelSelector === undefined ? {} : { labelSelector },
    };
  });
  if (wanted.namespace === "") return followed;
  const seen = new Set<string>();
  for (const { kind, namespace, name } of wanted.extras) {
    const key = refKey({ kind, namespace, name });
    if (namespace === wanted.namespace || seen.has(key)) continue;
    seen.add(key);
    followed.push({ kind, namespace, dispensable: true, query: { fieldSelector: `metadata.name=${name}` } });
    if (kind !== "Service") continue;
    followed.push({ kind: "EndpointSlice", namespace, dispensable: true, query: { labelSelector: `kubernetes.io/service-name=${name}` } });
  }
  return followed;
}

export interface ClusterOptions {
  readonly config: KubeConfig;
  readonly followed: readonly Followed[];
  readonly logger: Logger;
  readonly clock?: Clock;
  readonly backoff?: BackoffLimits;
  /** --sync-period in milliseconds; 0: never. */
  readonly resyncMs?: number;
  readonly limits?: WatchLimits;
  readonly timeouts?: ApiTimeouts;
}

export class ClusterSource implements Source {
  readonly #options: ClusterOptions;
  readonly #api: ApiServer;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #findings = new Map<string, Finding>();
  readonly #unlisted = new Set<Followed>();
  readonly #refused = new Set<KindName>();
  #reflectors: Reflector[] = [];
  #running: Promise<void>[] = [];
  #batch: SourceEvent[] = [];
  #findingsChanged = false;
  #flushing = false;
  #synced = false;
  #stopped = false;
  #sink: Sink | undefined;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#logger = options.logger.named("cluster");
    this.#clock = options.clock ?? systemClock;
    this.#api = connectApiServer(options.config, options.timeouts);
  }

  start(sink: Sink): void {
    this.#sink = sink;
    for (const followed of this.#options.followed) this.#unlisted.add(followed);
    this.#reflectors = this.#options.followed.map((followed) => this.#reflector(followed));
    this.#running = this.#reflectors.map((reflector) => reflector.run());
    this.#plan();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const reflector of this.#reflectors) reflector.stop();
    await Promise.all(this.#running);
    this.#api.close();
  }

  describe(): string {
    const oldest = Math.min(...this.#reflectors.map((reflector) => reflector.lastContact));
    const age = oldest === 0 ? "not every kind has been listed" : `oldest contact ${Math.round((this.#clock.now() - oldest) / 1000)} s ago`;
    return `cluster ${this.#api.url}: ${this.#reflectors.length} watches, ${age}`;
  }

  #reflector(followed: Followed): Reflector {
    const { kind, dispensable } = followed;
    const listed = () => {
      if (this.#unlisted.delete(followed)) this.#plan();
      if (this.#refused.delete(kind)) this.#sink?.readable?.(kind, true);
    };
    return new Reflector({
      label: kindRows[kind].plural,
      path: pathOf(followed),
      query: followed.query,
      api: this.#api,
      logger: this.#logger,
      clock: this.#clock,
      backoff: this.#options.backoff ?? defaultBackoff,
      resyncMs: this.#options.resyncMs ?? 0,
      limits: this.#options.limits ?? defaultWatchLimits,
      sink: {
        upsert: (raw) => this.#upsert(kind, raw),
        remove: (namespace, name) => this.#remove(kind, namespace, name),
        listed,
        refused: () => {
          if (!dispensable) return;
          if (this.#unlisted.delete(followed)) this.#plan();
          if (this.#refused.has(kind)) return;
          this.#refused.add(kind);
          this.#sink?.readable?.(kind, false);
        },
      },
    });
  }

  #upsert(kind: KindName, raw: RawObject): void {
    const about = { kind, namespace: raw.metadata.namespace ?? "", name: raw.metadata.name };
    const reduced = reduceObject(kind, raw);
    if ("ok" in reduced) {
      this.#batch.push({ type: "upsert", object: reduced.ok });
      this.#resolve(refKey(about));
    } else {
      const { at, text } = reduced.error;
      this.#findings.set(refKey(about), { code: "object-malformed", about, at, text });
      this.#findingsChanged = true;
    }
    this.#plan();
  }

  #remove(kind: KindName, namespace: string, name: string): void {
    this.#batch.push({ type: "delete", kind, namespace, name });
    this.#resolve(refKey({ kind, namespace, name }));
    this.#plan();
  }

  #resolve(key: string): void {
    if (this.#findings.delete(key)) this.#findingsChanged = true;
  }

  #plan(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      if (!this.#stopped) this.#flush(this.#sink!);
    });
  }

  #flush(sink: Sink): void {
    const batch = this.#batch;
    this.#batch = [];
    if (batch.length > 0) sink.change(batch);
    if (this.#findingsChanged) {
      this.#findingsChanged = false;
      sink.findings([...this.#findings.values()]);
    }
    if (this.#synced || this.#unlisted.size > 0) return;
    this.#synced = true;
    sink.synced();
  }
}

function pathOf(followed: Followed): string {
  const { apiVersion, plural } = kindRows[followed.kind];
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return followed.namespace === "" ? `${root}/${plural}` : `${root}/namespaces/${encodeURIComponent(followed.namespace)}/${plural}`;
}
