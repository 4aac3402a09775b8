/** Keeps the addresses of names (ExternalName Services) current: asks again when they expire, keeps the last good answer. */

import { promises as dns } from "node:dns";
import { isIP } from "node:net";
import { type Clock, systemClock } from "./clock.ts";
import type { Logger } from "./logger.ts";
import { candidates, type ResolvConf } from "./resolv-conf.ts";

export interface ResolverOptions {
  /** nameservers empty: those of the system. */
  readonly conf: ResolvConf;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Called with the names whose addresses are not what they were. */
  readonly onChange: (names: ReadonlySet<string>) => void;
}

interface Answer {
  readonly addresses: readonly string[];
  readonly ttlMs: number;
}

interface Watched {
  /** Undefined: no answer yet. Sorted. */
  addresses: readonly string[] | undefined;
  failures: number;
  readonly abort: AbortController;
}

const answered = new Set(["ENOTFOUND", "ENODATA", "ESERVFAIL", "EREFUSED", "EFORMERR", "ENOTIMP", "EBADNAME"]);
const leastMs = 1000;
const mostMs = 3_600_000;
const longestRetryMs = 30_000;

export class NameResolver {
  readonly #options: ResolverOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #dns = new dns.Resolver({ timeout: 2000, tries: 5 });
  readonly #watched = new Map<string, Watched>();
  #changed = new Set<string>();

  /** Throws when a name server is no address. */
  constructor(options: ResolverOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#logger = options.logger.named("resolver");
    if (options.conf.nameservers.length > 0) this.#dns.setServers(options.conf.nameservers);
  }

  /** Replaces the set of names. Names that stay keep their addresses; names that go are forgotten. */
  watchNames(names: ReadonlySet<string>): void {
    for (const [name, watched] of this.#watched) {
      if (names.has(name)) continue;
      watched.abort.abort();
      this.#watched.delete(name);
    }
    for (const name of names) {
      if (this.#watched.has(name)) continue;
      const watched: Watched = { addresses: isIP(name) === 0 ? undefined : [name], failures: 0, abort: new AbortController() };
      this.#watched.set(name, watched);
      if (watched.addresses === undefined) void this.#follow(name, watched);
    }
  }

  /** Undefined while there has never been an answer. */
  addressesOf(name: string): readonly string[] | undefined {
    return this.#watched.get(name)?.addresses;
  }

  /** True: asked for, but neither answered nor failed yet. */
  isPending(name: string): boolean {
    const watched = this.#watched.get(name);
    return watched !== undefined && watched.addresses === undefined && watched.failures === 0;
  }

  stop(): void {
    this.watchNames(new Set());
    this.#dns.cancel();
  }

  async #follow(name: string, watched: Watched): Promise<void> {
    const { signal } = watched.abort;
    while (!signal.aborted) {
      let waitMs: number;
      try {
        const answer = await this.#ask(name);
        if (signal.aborted) return;
        this.#accept(name, watched, answer);
        waitMs = answer.ttlMs;
      } catch (error) {
        if (signal.aborted) return;
        watched.failures += 1;
        // The first failure is news too: until then the name counts as pending.
        if (watched.failures === 1) {
          this.#logger.warning("cannot resolve the name", { name, error: error as Error, kept: watched.addresses });
          if (watched.addresses === undefined) this.#tell(name);
        }
        waitMs = Math.min(longestRetryMs, leastMs * 2 ** Math.min(watched.failures - 1, 10));
      }
      await this.#clock.pause(waitMs, signal);
    }
  }

  #accept(name: string, watched: Watched, answer: Answer): void {
    watched.failures = 0;
    const former = watched.addresses;
    if (former !== undefined && former.join(" ") === answer.addresses.join(" ")) return;
    watched.addresses = answer.addresses;
    this.#tell(name);
  }

  /** Collects the names of one turn of the event loop. */
  #tell(name: string): void {
    this.#changed.add(name);
    if (this.#changed.size > 1) return;
    setImmediate(() => {
      const changed = this.#changed;
      this.#changed = new Set();
      this.#options.onChange(changed);
    });
  }

  async #ask(name: string): Promise<Answer> {
    let reason: unknown;
    for (const candidate of candidates(name, this.#options.conf)) {
      for (const family of [4, 6] as const) {
        try {
          const records =
            family === 4 ? await this.#dns.resolve4(candidate, { ttl: true }) : await this.#dns.resolve6(candidate, { ttl: true });
          if (records.length > 0) return answerOf(records);
        } catch (error) {
          reason = error;
          const { code } = error as NodeJS.ErrnoException;
          // An answer, though a bad one: the next candidate may do better. A server that is silent would cost ten seconds for each.
          if (!answered.has(code ?? "")) throw error;
        }
      }
    }
    throw reason ?? new Error(`${name} has no address`);
  }
}

function answerOf(records: readonly { readonly address: string; readonly ttl: number }[]): Answer {
  const addresses = [...new Set(records.map((record) => record.address))].sort();
  const ttl = Math.min(...records.map((record) => record.ttl)) * 1000;
  return { addresses, ttlMs: Math.min(mostMs, Math.max(leastMs, ttl)) };
}
