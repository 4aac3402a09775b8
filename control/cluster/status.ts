/** Writes the addresses into the status of our Ingresses: the leader, when something changed and every so often. */

import { type Clock, systemClock } from "../run/clock.ts";
import type { Logger } from "../run/logger.ts";
import { type ApiServer, apiErrorOf } from "../source/api-server.ts";
import type { Ingress, LoadBalancerAddress } from "../source/kinds.ts";
import { sameAddresses } from "./addresses.ts";

export interface StatusOptions {
  readonly api: ApiServer;
  /** Our Ingresses as the API server knows them. */
  readonly ingresses: () => readonly Ingress[];
  /** Undefined: not known for now, nothing is written. */
  readonly addresses: (signal: AbortSignal) => Promise<readonly LoadBalancerAddress[] | undefined>;
  readonly intervalMs: number;
  readonly logger: Logger;
  readonly clock?: Clock;
}

const width = 10;
/** Changes that come together are written together. */
const gatherMs = 200;

export class StatusWriter {
  readonly #o: StatusOptions;
  readonly #clock: Clock;
  #abort: AbortController | undefined;
  #running: Promise<void> = Promise.resolve();
  #wake: AbortController = new AbortController();

  constructor(options: StatusOptions) {
    this.#o = options;
    this.#clock = options.clock ?? systemClock;
  }

  start(): void {
    if (this.#abort !== undefined) return;
    this.#abort = new AbortController();
    this.#running = this.#running.then(() => this.#run(this.#abort!.signal));
  }

  async stop(): Promise<void> {
    this.#abort?.abort();
    this.#abort = undefined;
    this.#wake.abort();
    await this.#running;
  }

  /** Something changed that a status may depend on. */
  poke(): void {
    this.#wake.abort();
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#wake = new AbortController();
      try {
        const addresses = await this.#o.addresses(signal);
        if (addresses !== undefined) await this.#writeAll(addresses, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#o.logger.warning("the status of Ingresses cannot be written", { error: error as Error });
      }
      await this.#clock.pause(this.#o.intervalMs, AbortSignal.any([signal, this.#wake.signal]));
      await this.#clock.pause(gatherMs, signal);
    }
  }

  /** The last replica takes the addresses away. */
  async clear(signal: AbortSignal): Promise<void> {
    await this.#writeAll([], signal);
  }

  async #writeAll(addresses: readonly LoadBalancerAddress[], signal: AbortSignal): Promise<void> {
    const stale = this.#o.ingresses().filter((ingress) => !sameAddresses(ingress.status?.loadBalancer ?? [], addresses));
    const queue = stale.values();
    const worker = async () => {
      for (const ingress of queue) {
        if (signal.aborted) return;
        await this.#write(ingress, addresses, signal);
      }
    };
    await Promise.all(Array.from({ length: Math.min(width, stale.length) }, worker));
  }

  /** By PUT: the cluster role of the retired chart allows no patch of a status. */
  async #write(ingress: Ingress, addresses: readonly LoadBalancerAddress[], signal: AbortSignal): Promise<void> {
    const { namespace, name } = ingress.metadata;
    const path = `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses/${name}`;
    for (let tries = 0; tries < 3; tries += 1) {
      try {
        const current = (await this.#o.api.get(path, {}, signal)) as {
          readonly status?: { readonly loadBalancer?: { readonly ingress?: unknown } };
        };
        if (sameAddresses((current.status?.loadBalancer?.ingress ?? []) as readonly LoadBalancerAddress[], addresses)) return;
        const loadBalancer = addresses.length === 0 ? {} : { ingress: addresses };
        await this.#o.api.send("PUT", `${path}/status`, { ...current, status: { ...current.status, loadBalancer } }, signal);
        this.#o.logger.info("wrote the status of an Ingress", { ingress: `${namespace}/${name}`, addresses: addresses.map(textOf) });
        return;
      } catch (error) {
        const { status } = apiErrorOf(error);
        if (signal.aborted || status === 404) return;
        if (status === 409) continue;
        this.#o.logger.warning("the status of an Ingress cannot be written", { ingress: `${namespace}/${name}`, error: error as Error });
        return;
      }
    }
  }
}

function textOf({ ip, hostname }: LoadBalancerAddress): string {
  return ip ?? hostname ?? "";
}
