/**
 * Batches changes and runs build → plan → apply, one at a time: idle, work at once; busy, collect; done, take all that
 * was collected. An endpoint change takes the short path. What fails is repeated with growing pauses; the newest state wins.
 */

import type { EndpointDocument } from "../lua-src/wire.ts";
import type { Apply } from "./apply/apply.ts";
import type { Accepted, LastGood } from "./build/accept.ts";
import { type BuildOptions, type Built, build } from "./build/build.ts";
import { endpointsFrom, isTouched, type NameLook, sourcesOf, whyEmpty } from "./endpoint-sources.ts";
import type { Backend } from "./model/backend.ts";
import type { Finding } from "./model/finding.ts";
import type { ObjectRef } from "./model/ids.ts";
import type { Model } from "./model/model.ts";
import type { Objects } from "./objects/objects.ts";
import { backendText, documentsOf, type GeneralOptions, generalOf } from "./plan/documents.ts";
import { planOf } from "./plan/plan.ts";
import { tooManyProfiles } from "./plan/profiles.ts";
import { streamEndpoints } from "./plan/stream.ts";
import type { Board } from "./report/board.ts";
import { traceBackend, traceBackends, traceEvents } from "./report/trace.ts";
import type { Logger } from "./run/logger.ts";
import type { KindName, Sink, SourceEvent } from "./source/source.ts";
import { Waiters } from "./waiters.ts";

export interface LoopOptions {
  readonly objects: Objects;
  readonly apply: Apply;
  readonly board: Board;
  readonly logger: Logger;
  readonly names: NameLook;
  /** Read for each build: `now` moves on. */
  readonly buildOptions: () => BuildOptions;
  readonly general: GeneralOptions;
  /** Endpoints of TCP and UDP services do not stand in nginx.conf. */
  readonly liveStreams: boolean;
  /** After each build, before it is applied. */
  readonly onBuilt?: (built: Built) => void;
}

/** An object version that must be read, or an object that must be gone (version undefined). */
export interface Wanted {
  readonly ref: ObjectRef;
  readonly version: string | undefined;
}

export type Waited = { readonly done: true } | { readonly done: false; readonly missing: string[] };

const firstPause = 100;
const longestPause = 10_000;

export class Loop implements Sink {
  readonly #o: LoopOptions;
  #model = false;
  #services = new Set<string>();
  #names = new Set<string>();
  #synced = false;
  #tellReady: () => void = () => undefined;
  /** Resolves when every kind of object has been listed once. */
  readonly ready = new Promise<void>((resolve) => {
    this.#tellReady = resolve;
  });
  #busy = false;
  #stopped = false;
  #built: Built | undefined;
  #lastGood: LastGood = new Map();
  #pause = firstPause;
  #wake: (() => void) | undefined;
  /** Set while a reload waits for its turn. */
  #later: NodeJS.Timeout | undefined;
  readonly #waiters = new Waiters();
  #lastError = "";
  #syncs = 0;
  #syncSeconds = 0;
  readonly #empty = new Map<string, Finding>();

  constructor(options: LoopOptions) {
    this.#o = options;
  }

  change(events: readonly SourceEvent[]): void {
    traceEvents(this.#o.logger, events);
    const touched = this.#o.objects.change(events);
    this.#model ||= touched.model;
    for (const service of touched.services) this.#services.add(service);
    this.#kick();
  }

  readable(kind: KindName, readable: boolean): void {
    this.#o.objects.setReadable(kind, readable);
    this.#model = true;
    this.#kick();
  }

  findings(findings: readonly Finding[]): void {
    this.#o.board.set("source", findings);
  }

  synced(): void {
    this.#synced = true;
    this.#model = true;
    this.#tellReady();
    this.#kick();
  }

  /** The addresses of these ExternalName hosts changed. */
  namesChanged(names: ReadonlySet<string>): void {
    for (const name of names) this.#names.add(name);
    this.#kick();
  }

  /** All is built and compared again; where nginx is gone, sent again. */
  again(): void {
    this.#postpone(undefined);
    this.#model = true;
    this.#kick();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#later);
    this.#wake?.();
  }

  get status(): {
    readonly synced: boolean;
    readonly idle: boolean;
    readonly lastError: string;
    readonly hosts: number;
    readonly backends: number;
    /** Batches of changes that were applied, and how long that took in all. */
    readonly syncs: number;
    readonly syncSeconds: number;
  } {
    return {
      synced: this.#synced,
      idle: this.#idle(),
      lastError: this.#lastError,
      hosts: this.#built?.model.hosts.length ?? 0,
      backends: this.#built?.model.backends.size ?? 0,
      syncs: this.#syncs,
      syncSeconds: this.#syncSeconds,
    };
  }

  /** Our Ingresses as they count since the last build. */
  get accepted(): readonly Accepted[] {
    return this.#built?.accepted ?? [];
  }

  /** Versions in force of refused Ingresses, for admission to build with. */
  get lastGood(): LastGood {
    return this.#lastGood;
  }

  /** What was built last, and the backends without endpoints. */
  get built(): { readonly model: Model; readonly empty: ReadonlySet<string> } | undefined {
    return this.#built === undefined ? undefined : { model: this.#built.model, empty: new Set(this.#empty.keys()) };
  }

  /** Resolves when these versions have been read and all that was read is applied or refused for good. */
  async waitApplied(wanted: readonly Wanted[], timeout: number): Promise<Waited> {
    const missing = () => wanted.filter((w) => this.#o.objects.versionOf(w.ref) !== w.version);
    const done = () => this.#synced && this.#idle() && missing().length === 0 && !this.#resolving();
    if (await this.#waiters.until(done, timeout, () => this.#stopped)) return { done: true };
    const texts = missing().map(
      (w) => `${w.ref.kind}/${w.ref.namespace}/${w.ref.name}${w.version === undefined ? " still there" : `@${w.version}`}`,
    );
    return { done: false, missing: texts.length > 0 ? texts : [`not applied yet${this.#lastError === "" ? "" : `: ${this.#lastError}`}`] };
  }

  #idle(): boolean {
    return !this.#busy && !this.#pending() && this.#later === undefined;
  }

  /** A name's first answer is still on its way; the answer or its failure wakes the waiters. */
  #resolving(): boolean {
    if (this.#built === undefined) return false;
    return sourcesOf(this.#built.model).some((s) => s.kind === "dns" && this.#o.names.isPending(s.host));
  }

  #pending(): boolean {
    return this.#model || this.#services.size > 0 || this.#names.size > 0;
  }

  #kick(): void {
    this.#wake?.();
    if (this.#busy || this.#stopped || !this.#synced) {
      return;
    }
    if (!this.#pending()) {
      this.#waiters.tell();
      return;
    }
    this.#busy = true;
    setImmediate(() => void this.#work());
  }

  async #work(): Promise<void> {
    while (this.#pending() && !this.#stopped) {
      const model = this.#model || this.#built === undefined;
      const services = this.#services;
      const changedNames = this.#names;
      this.#model = false;
      this.#services = new Set();
      this.#names = new Set();
      const began = performance.now();
      try {
        if (model) await this.#full();
        else await this.#endpoints(services, changedNames);
        this.#pause = firstPause;
        this.#lastError = "";
        this.#syncs += 1;
        this.#syncSeconds += (performance.now() - began) / 1000;
      } catch (error) {
        this.#model = true;
        await this.#backOff(error as Error);
      }
    }
    this.#busy = false;
    this.#waiters.tell();
  }

  async #backOff(error: Error): Promise<void> {
    this.#lastError = error.message;
    this.#o.logger.error("cannot apply; the last applied state stays in force", { error: error.message, retryMs: this.#pause });
    const ms = this.#pause * (1 + Math.random() / 2);
    this.#pause = Math.min(longestPause, this.#pause * 2);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        if (!this.#stopped) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }

  async #full(): Promise<void> {
    const { objects, apply, board, general, names } = this.#o;
    const built = build(objects, this.#lastGood, this.#o.buildOptions());
    this.#trace(built);
    this.#built = built;
    this.#lastGood = built.lastGood;
    objects.setReferences(built.references);
    this.#o.onBuilt?.(built);
    names.watchNames(new Set(sourcesOf(built.model).flatMap((s) => (s.kind === "dns" ? [s.host] : []))));
    this.#empty.clear();
    const documents = documentsOf(built.model, generalOf(built.basis, general, built.model.patterns), (b) => this.#endpointsOf(b));
    const plan = planOf(built, documents, this.#o.liveStreams, (source) => endpointsFrom(source, objects, names));
    board.set("objects", [...built.model.findings, ...tooManyProfiles(plan.parts.profiles.size)]);
    board.set("endpoints", [...this.#empty.values()]);
    const { findings, waitMs } = await apply.apply(plan);
    board.set("apply", findings);
    this.#postpone(waitMs);
  }

  /** A reload has to wait for its turn: all is built and applied again then, if nothing else makes it happen earlier. */
  #postpone(waitMs: number | undefined): void {
    clearTimeout(this.#later);
    this.#later = waitMs === undefined ? undefined : setTimeout(() => this.again(), waitMs);
  }

  #trace(built: Built): void {
    const { hosts, backends, certificates } = built.model;
    this.#o.logger.debug(2, "syncing", { hosts: hosts.length, backends: backends.size, certificates: certificates.size });
    traceBackends(
      this.#o.logger,
      [...backends.keys()].filter((id) => this.#built?.model.backends.has(id) !== true),
    );
  }

  async #endpoints(services: ReadonlySet<string>, changedNames: ReadonlySet<string>): Promise<void> {
    const texts = new Map<string, string>();
    for (const backend of this.#built?.model.backends.values() ?? []) {
      if (isTouched(backend.endpoints, services, changedNames)) texts.set(backend.id, backendText(backend, this.#endpointsOf(backend)));
    }
    if (texts.size > 0) {
      this.#o.board.set("endpoints", [...this.#empty.values()]);
      await this.#o.apply.applyBackends(texts);
    }
    const streams = this.#built?.model.streams.filter((s) => isTouched(s.endpoints, services, changedNames)) ?? [];
    if (streams.length === 0) return;
    if (!this.#o.liveStreams) await this.#full();
    else this.#o.apply.applyStreams(streamEndpoints(streams, (source) => endpointsFrom(source, this.#o.objects, this.#o.names)));
  }

  /** Also notes whether the backend has none, for the findings. */
  #endpointsOf(backend: Backend): readonly EndpointDocument[] {
    const endpoints = endpointsFrom(backend.endpoints, this.#o.objects, this.#o.names);
    traceBackend(this.#o.logger, backend, endpoints);
    const finding = endpoints.length > 0 ? undefined : whyEmpty(backend, this.#o.names);
    if (finding === undefined) this.#empty.delete(backend.id);
    else this.#empty.set(backend.id, finding);
    return endpoints;
  }
}
