/** Flags → the admission webhook: starts its thread, keeps its objects current, asks nginx for it. */

import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { AdmissionCounts } from "../admission/counts.ts";
import type { FromThread, ThreadStart, ToThread } from "../admission/thread-messages.ts";
import type { Trial } from "../apply/trial.ts";
import type { BuildOptions, Built } from "../build/build.ts";
import { refKey } from "../model/ids.ts";
import type { Objects } from "../objects/objects.ts";
import type { Options } from "../options/flags.ts";
import { shippedDir } from "../run/layout.ts";
import type { Logger } from "../run/logger.ts";
import type { Ingress } from "../source/kinds.ts";
import type { KindName, KubeObject, Sink, SourceEvent } from "../source/source.ts";

interface Parts {
  readonly options: Options;
  readonly objects: Objects;
  readonly trial: Trial;
  readonly buildOptions: () => BuildOptions;
  readonly logger: Logger;
  readonly spawn?: (start: ThreadStart) => Worker;
}

const restartMs = 1000;
/** For reviews that are being answered. */
const stopMs = 10_000;
/** Objects in one message, so that a long list does not hold up either side. */
const batch = 500;

/** Undefined without --validating-webhook. Rejects with a sentence for the user. */
export async function openAdmission(parts: Parts): Promise<Admission | undefined> {
  const { validatingWebhook, validatingWebhookCertificate, validatingWebhookKey } = parts.options;
  if (validatingWebhook === "") return undefined;
  if (validatingWebhookCertificate === "" || validatingWebhookKey === "") {
    throw new Error("flag --validating-webhook needs --validating-webhook-certificate and --validating-webhook-key");
  }
  const admission = new Admission(parts);
  await admission.start();
  return admission;
}

export class Admission {
  readonly counts = new AdmissionCounts();
  readonly #o: Parts;
  #worker: Worker | undefined;
  #ended: Promise<void> = Promise.resolve();
  #stopping = false;
  #synced = false;
  readonly #unreadable = new Set<KindName>();
  #lastGood: ReadonlyMap<string, Ingress> = new Map();

  constructor(parts: Parts) {
    this.#o = parts;
  }

  /** Events go to `to` and to the thread. */
  sink(to: Sink): Sink {
    return {
      change: (events) => {
        to.change(events);
        this.#change(events);
      },
      findings: (findings) => to.findings(findings),
      readable: (of, readable) => {
        to.readable?.(of, readable);
        if (readable) this.#unreadable.delete(of);
        else this.#unreadable.add(of);
        this.#tell({ kind: "readable", of, readable });
      },
      synced: () => {
        to.synced();
        this.#synced = true;
        this.#tell({ kind: "synced" });
      },
    };
  }

  /** After each build: versions in force that are not the newest. */
  built({ accepted }: Built): void {
    const older = accepted.filter(({ ref, ingress }) => this.#o.objects.get(ref) !== ingress);
    const versions = new Map(older.map(({ ref, ingress }) => [refKey(ref), ingress]));
    if (versions.size === this.#lastGood.size && [...versions].every(([key, ingress]) => this.#lastGood.get(key) === ingress)) return;
    this.#lastGood = versions;
    this.#tell({ kind: "lastGood", versions });
  }

  async start(): Promise<void> {
    const worker = (this.#o.spawn ?? spawnThread)(this.#startData());
    this.#worker = worker;
    const listens = new Promise<void>((resolve, reject) => {
      worker.on("message", (message: FromThread) => {
        if (message.kind === "listens") resolve();
        else if (message.kind === "cannot") reject(new Error(message.why));
        else if (message.kind === "checked") this.counts.add(message.review, message.seconds);
        else void this.#answer(worker, message);
      });
    });
    this.#ended = new Promise((resolve) => worker.once("exit", () => resolve()));
    let problem = "it ended";
    worker.once("error", (error) => {
      problem = error.message;
    });
    this.#replay();
    await Promise.race([listens, this.#ended.then(() => Promise.reject(new Error(`the admission thread: ${problem}`)))]);
    void this.#ended.then(() => this.#restart(problem));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#tell({ kind: "stop" });
    const patience = new AbortController();
    const late = pause(stopMs, undefined, { signal: patience.signal }).then(() => this.#worker?.terminate());
    late.catch(() => undefined);
    await this.#ended;
    patience.abort();
  }

  async #restart(problem: string): Promise<void> {
    while (!this.#stopping) {
      this.#o.logger.error("the admission webhook ended and is started again", { problem });
      await pause(restartMs);
      try {
        await this.start();
        return;
      } catch (error) {
        problem = (error as Error).message;
      }
    }
  }

  #startData(): ThreadStart {
    const { options, trial, buildOptions } = this.#o;
    const { fakeCertificate, now, ...build } = buildOptions();
    return {
      address: options.validatingWebhook,
      certificateFile: options.validatingWebhookCertificate,
      keyFile: options.validatingWebhookKey,
      verbosity: options.v,
      trialDir: trial.folder,
      build,
    };
  }

  /** What a thread that starts later has missed. */
  #replay(): void {
    this.#change([...this.#o.objects.all()].map((object) => ({ type: "upsert", object })));
    for (const of of this.#unreadable) this.#tell({ kind: "readable", of, readable: false });
    if (this.#lastGood.size > 0) this.#tell({ kind: "lastGood", versions: this.#lastGood });
    if (this.#synced) this.#tell({ kind: "synced" });
  }

  #change(events: readonly SourceEvent[]): void {
    const read = events.filter((event) => event.type === "delete" || isRead(event.object));
    for (let i = 0; i < read.length; i += batch) this.#tell({ kind: "change", events: read.slice(i, i + batch) });
  }

  async #answer(worker: Worker, { id, parts, expressions }: Extract<FromThread, { kind: "ask" }>): Promise<void> {
    const failed = (error: Error) => ({ kind: "untested" as const, why: error.message });
    const message: ToThread = { kind: "answer", id, answer: await this.#o.trial.of(parts, expressions).catch(failed) };
    worker.postMessage(message);
  }

  #tell(message: ToThread): void {
    this.#worker?.postMessage(message);
  }
}

function spawnThread(start: ThreadStart): Worker {
  return new Worker(join(shippedDir(), "admission.mjs"), { workerData: start });
}

/** Endpoints change often and no check looks at them. */
function isRead(object: KubeObject): boolean {
  return object.kind !== "EndpointSlice";
}
