/**
 * Changes of endpoints at a steady rate, each one write of an EndpointSlice. Some pods stay and merely leave and come
 * back; others live as in a rollout: they start on a new address, join, are marked as terminating, leave, and are stopped
 * a little later.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { KubeObject } from "../kit/fixtures/objects.ts";
import { type SliceEndpoint, type SoakService, slice } from "./services.ts";

export interface ChurnSurroundings {
  readonly openPod: (address: string, service: SoakService) => Promise<void>;
  /** Resolves when the pod has finished what it had begun. */
  readonly closePod: (address: string) => Promise<void>;
  readonly writeSlice: (written: KubeObject) => Promise<void>;
  readonly random: () => number;
}

const steadyPods = 4;
const leastReady = 2;
const mostPassing = 4;
/** From the write that takes an endpoint out to the end of its pod. */
const drainMs = 500;

interface Passing {
  readonly address: string;
  terminating: boolean;
}

/** Addresses are not used twice within a run of hours, as a cluster's are not for a while. */
function createAddresses(): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `10.244.${Math.floor(count / 250)}.${(count % 250) + 1}`;
  };
}

class Endpoints {
  readonly #service: SoakService;
  readonly #around: ChurnSurroundings;
  readonly #address: () => string;
  readonly #in: string[] = [];
  readonly #out: string[] = [];
  readonly #passing: Passing[] = [];
  readonly #leaving = new Set<Promise<void>>();
  #writing: Promise<void> = Promise.resolve();

  constructor(service: SoakService, around: ChurnSurroundings, address: () => string) {
    this.#service = service;
    this.#around = around;
    this.#address = address;
  }

  async start(): Promise<void> {
    for (let pod = 0; pod < steadyPods; pod++) {
      const address = this.#address();
      await this.#around.openPod(address, this.#service);
      this.#in.push(address);
    }
    await this.#write();
  }

  /** One change, after those before it. */
  change(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#change());
    return this.#writing;
  }

  async settle(): Promise<void> {
    await this.#writing;
    await Promise.all(this.#leaving);
  }

  async #change(): Promise<void> {
    const steps = [() => this.#start()];
    if (this.#in.length > leastReady) steps.push(() => this.#rest());
    if (this.#out.length > 0) steps.push(() => this.#comeBack());
    const going = this.#passing.find(({ terminating }) => terminating);
    if (going !== undefined) steps.push(() => this.#remove(going));
    const oldest = this.#passing.find(({ terminating }) => !terminating);
    if (oldest !== undefined) steps.push(() => this.#terminate(oldest));
    if (this.#passing.length >= mostPassing) steps.shift();
    await steps[Math.floor(this.#around.random() * steps.length)]!();
  }

  async #rest(): Promise<void> {
    this.#out.push(this.#in.shift()!);
    await this.#write();
  }

  async #comeBack(): Promise<void> {
    this.#in.push(this.#out.shift()!);
    await this.#write();
  }

  async #start(): Promise<void> {
    const address = this.#address();
    await this.#around.openPod(address, this.#service);
    this.#passing.push({ address, terminating: false });
    await this.#write();
  }

  async #terminate(pod: Passing): Promise<void> {
    pod.terminating = true;
    await this.#write();
  }

  async #remove(pod: Passing): Promise<void> {
    this.#passing.splice(this.#passing.indexOf(pod), 1);
    await this.#write();
    const left = pause(drainMs).then(() => this.#around.closePod(pod.address));
    this.#leaving.add(left);
    void left.finally(() => this.#leaving.delete(left)).catch(() => undefined);
  }

  #write(): Promise<void> {
    const steady = this.#in.map((address): SliceEndpoint => ({ address, terminating: false }));
    return this.#around.writeSlice(slice(this.#service.name, [...steady, ...this.#passing]));
  }
}

export interface Churn {
  /** Changes that the API server has taken so far. */
  readonly written: number;
  /** Makes changes at the rate until it is over; those that are late are made up for. */
  run(perSecond: number, isOver: () => boolean): Promise<void>;
  /** Resolves when the pods that left have ended. */
  settle(): Promise<void>;
}

/** Resolves when every service has its first endpoints. */
export async function startChurn(services: readonly SoakService[], around: ChurnSurroundings): Promise<Churn> {
  const address = createAddresses();
  const all = services.map((service) => new Endpoints(service, around, address));
  for (const endpoints of all) await endpoints.start();
  let written = 0;
  return {
    get written() {
      return written;
    },
    run: async (perSecond, isOver) => {
      const begun = performance.now();
      let asked = 0;
      const under = new Set<Promise<void>>();
      while (!isOver()) {
        const due = Math.floor(((performance.now() - begun) / 1000) * perSecond);
        // a standstill of the API server must not become a queue without end
        for (; asked < due && under.size < perSecond; asked++) {
          const change = all[asked % all.length]!.change().then(() => {
            written += 1;
          });
          under.add(change);
          void change.finally(() => under.delete(change)).catch(() => undefined);
        }
        await Promise.race([pause(1000 / perSecond), ...under]);
      }
      await Promise.all(under);
    },
    settle: async () => {
      for (const endpoints of all) await endpoints.settle();
    },
  };
}
