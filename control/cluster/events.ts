/** Kubernetes Events about users' objects and this pod: repeated ones are counted on, none ever holds anything up. */

import { type Clock, systemClock } from "../run/clock.ts";
import type { Logger } from "../run/logger.ts";
import { type ApiServer, apiErrorOf } from "../source/api-server.ts";

export interface EventObject {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  /** Without it `kubectl describe` does not find the Event. */
  readonly uid: string;
}

export interface EventText {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

export interface EventOptions {
  readonly api: ApiServer;
  /** This pod's name. */
  readonly instance: string;
  readonly logger: Logger;
  readonly clock?: Clock;
}

interface Known {
  readonly path: string;
  readonly name: string;
  readonly count: number;
}

interface Queued {
  readonly object: EventObject;
  readonly text: EventText;
}

export const component = "nginx-ingress-controller";
const queueLimit = 5000;
const knownLimit = 4096;
/** For one object, as client libraries do it: so many at once, then one in so long. */
const burst = 25;
const refillMs = 300_000;
const messageLimit = 1024;

export class EventRecorder {
  readonly #o: EventOptions;
  readonly #clock: Clock;
  readonly #queue: Queued[] = [];
  readonly #known = new Map<string, Known>();
  readonly #budget = new Map<string, { tokens: number; at: number }>();
  readonly #abort = new AbortController();
  #busy: Promise<void> | undefined;
  #serial = 0;

  constructor(options: EventOptions) {
    this.#o = options;
    this.#clock = options.clock ?? systemClock;
  }

  record(object: EventObject, text: EventText): void {
    if (this.#abort.signal.aborted || !this.#allowed(object)) return;
    if (this.#queue.length >= queueLimit) {
      this.#o.logger.logOnce("too many Events are waiting; some are left out");
      return;
    }
    this.#queue.push({ object, text: { ...text, message: clip(text.message) } });
    this.#busy ??= this.#drain().finally(() => {
      this.#busy = undefined;
    });
  }

  /** What waits is still sent, for at most so long. */
  async stop(ms: number): Promise<void> {
    const timer = setTimeout(() => this.#abort.abort(), ms);
    await this.#busy;
    clearTimeout(timer);
    this.#abort.abort();
  }

  #allowed(object: EventObject): boolean {
    const key = `${object.kind}/${object.namespace}/${object.name}/${object.uid}`;
    const now = this.#clock.now();
    const budget = this.#budget.get(key) ?? { tokens: burst, at: now };
    const tokens = Math.min(burst, budget.tokens + (now - budget.at) / refillMs);
    if (this.#budget.size >= knownLimit && !this.#budget.has(key)) this.#budget.clear();
    this.#budget.set(key, { tokens: tokens >= 1 ? tokens - 1 : tokens, at: now });
    return tokens >= 1;
  }

  async #drain(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      if (this.#abort.signal.aborted) return;
      try {
        await this.#send(next);
      } catch (error) {
        if (this.#abort.signal.aborted) return;
        this.#o.logger.logOnce("an Event cannot be written", { error: apiErrorOf(error) });
      }
    }
  }

  async #send({ object, text }: Queued): Promise<void> {
    const key = JSON.stringify([object.kind, object.namespace, object.name, object.uid, text.type, text.reason, text.message]);
    const known = this.#known.get(key);
    const now = new Date(this.#clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    const { signal } = this.#abort;
    if (known !== undefined) {
      try {
        const count = known.count + 1;
        await this.#o.api.send("PATCH", `${known.path}/${known.name}`, { count, lastTimestamp: now }, signal);
        this.#known.set(key, { ...known, count });
        return;
      } catch (error) {
        // Events expire.
        if (apiErrorOf(error).status !== 404) throw error;
      }
    }
    const namespace = object.namespace === "" ? "default" : object.namespace;
    const path = `/api/v1/namespaces/${namespace}/events`;
    const name = this.#name(object.name);
    await this.#o.api.send("POST", path, { ...this.#event(object, text, now), metadata: { name, namespace } }, signal);
    if (this.#known.size >= knownLimit) this.#known.clear();
    this.#known.set(key, { path, name, count: 1 });
  }

  #name(object: string): string {
    this.#serial += 1;
    const stamp = (BigInt(this.#clock.now()) * 1_000_000n + BigInt(this.#serial % 1_000_000)).toString(16);
    return `${object.slice(0, 253 - stamp.length - 1)}.${stamp}`;
  }

  #event(object: EventObject, text: EventText, now: string): object {
    return {
      apiVersion: "v1",
      kind: "Event",
      involvedObject: object,
      ...text,
      source: { component },
      reportingComponent: component,
      reportingInstance: this.#o.instance,
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    };
  }
}

function clip(message: string): string {
  return message.length > messageLimit ? `${message.slice(0, messageLimit - 1)}…` : message;
}
