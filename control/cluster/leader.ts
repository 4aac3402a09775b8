/** Leader election by a Lease: one of the replicas holds it, the others watch it grow old. */

import { type Clock, systemClock } from "../run/clock.ts";
import type { Logger } from "../run/logger.ts";
import { type ApiServer, apiErrorOf } from "../source/api-server.ts";

export interface LeaderOptions {
  readonly api: ApiServer;
  readonly namespace: string;
  /** Of the Lease. */
  readonly name: string;
  /** The pod's. */
  readonly identity: string;
  readonly ttlMs: number;
  readonly logger: Logger;
  readonly onChange: (leading: boolean) => void;
  readonly clock?: Clock;
}

interface Lease {
  readonly metadata: { readonly resourceVersion?: string; readonly [key: string]: unknown };
  readonly spec?: {
    readonly holderIdentity?: string | null;
    readonly leaseDurationSeconds?: number | null;
    readonly acquireTime?: string | null;
    readonly renewTime?: string | null;
    readonly leaseTransitions?: number | null;
  };
}

export class Leader {
  readonly #o: LeaderOptions;
  readonly #clock: Clock;
  readonly #path: string;
  readonly #abort = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #leading = false;
  /** Holder as the Lease named it last. */
  #holder = "";
  /** The Lease's state and when it was first seen so: clocks of other machines are not trusted. */
  #seen = { text: "", at: 0 };
  #renewed = 0;

  constructor(options: LeaderOptions) {
    this.#o = options;
    this.#clock = options.clock ?? systemClock;
    this.#path = `/apis/coordination.k8s.io/v1/namespaces/${options.namespace}/leases`;
  }

  get leading(): boolean {
    return this.#leading;
  }

  get holder(): string {
    return this.#holder;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Gives the Lease back, so that another replica need not wait for its end. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
    if (!this.#leading) return;
    this.#set(false);
    try {
      const lease = (await this.#o.api.get(`${this.#path}/${this.#o.name}`, {}, AbortSignal.timeout(5000))) as Lease;
      if (lease.spec?.holderIdentity !== this.#o.identity) return;
      const now = microTime(this.#clock.now());
      const spec = { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
      await this.#o.api.send("PUT", `${this.#path}/${this.#o.name}`, { ...lease, spec });
    } catch (error) {
      this.#o.logger.debug(2, "the lease could not be given back", { error: error as Error });
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    const { ttlMs, logger } = this.#o;
    while (!signal.aborted) {
      try {
        const held = await this.#attempt();
        if (held) this.#renewed = this.#clock.now();
        this.#set(held);
      } catch (error) {
        if (signal.aborted) return;
        logger.warning("the lease cannot be read or renewed", { lease: this.#o.name, error: apiErrorOf(error) });
        // Another replica may take it once it has expired; stop writing well before.
        if (this.#leading && this.#clock.now() - this.#renewed >= ttlMs / 2) this.#set(false);
      }
      await this.#clock.pause((ttlMs / 4) * (1 + Math.random() * 0.2), signal);
    }
  }

  #set(leading: boolean): void {
    if (leading === this.#leading) return;
    this.#leading = leading;
    this.#o.logger.info(leading ? "this pod leads" : "this pod does not lead any more", { lease: this.#o.name });
    this.#o.onChange(leading);
  }

  /** True while the Lease is ours. */
  async #attempt(): Promise<boolean> {
    const { api, name, identity, ttlMs } = this.#o;
    const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(Math.max(1000, ttlMs / 4))]);
    const found = await this.#read(signal);
    const now = this.#clock.now();
    if (found === undefined) {
      const { namespace } = this.#o;
      const metadata = { name, namespace };
      await api.send("POST", this.#path, this.#lease(metadata, undefined, now), signal);
      this.#note(identity);
      return true;
    }
    const holder = found.spec?.holderIdentity ?? "";
    this.#note(holder);
    const text = JSON.stringify(found.spec ?? {});
    if (text !== this.#seen.text) this.#seen = { text, at: now };
    const duration = (found.spec?.leaseDurationSeconds ?? ttlMs / 1000) * 1000;
    if (holder !== "" && holder !== identity && now - this.#seen.at < duration) return false;
    try {
      await api.send("PUT", `${this.#path}/${name}`, this.#lease(found.metadata, found.spec, now), signal);
    } catch (error) {
      // Another replica was faster.
      if (apiErrorOf(error).status === 409) return false;
      throw error;
    }
    this.#note(identity);
    return true;
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    try {
      return (await this.#o.api.get(`${this.#path}/${this.#o.name}`, {}, signal)) as Lease;
    } catch (error) {
      if (apiErrorOf(error).status === 404) return undefined;
      throw error;
    }
  }

  #note(holder: string): void {
    if (holder === this.#holder) return;
    this.#holder = holder;
    if (holder !== "") this.#o.logger.info("the leader is", { pod: holder });
  }

  #lease(metadata: Lease["metadata"], former: Lease["spec"], now: number): unknown {
    const { identity, ttlMs } = this.#o;
    const same = former?.holderIdentity === identity;
    return {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata,
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: Math.max(1, Math.ceil(ttlMs / 1000)),
        acquireTime: (same ? former.acquireTime : undefined) ?? microTime(now),
        renewTime: microTime(now),
        leaseTransitions: (former?.leaseTransitions ?? 0) + (same || former === undefined ? 0 : 1),
      },
    };
  }
}

/** RFC 3339 with six digits, as the API wants it. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}
