/** Spans of the workers → an OpenTelemetry collector, by OTLP over gRPC. A queue that is full takes no more; nothing waits for it. */

import { setTimeout as pause } from "node:timers/promises";
import type { Client, ServiceError } from "@grpc/grpc-js";
import type { Collector } from "../features/telemetry.ts";

export interface SpanExporterOptions {
  /** Of this controller. */
  readonly version: string;
  readonly pod: string;
  /** Why spans do not arrive; undefined: they do again. */
  readonly onProblem: (problem: string | undefined) => void;
}

interface Delivery {
  readonly count: number;
  readonly spans: Buffer;
}

const method = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const deadlineMs = 10_000;
const longestPause = 30_000;
/** Milliseconds for what is left at the end. */
const lastMs = 2000;
const mostBytes = 16 * 1024 * 1024;
const unavailable = 14;
/** Codes of gRPC that OTLP says to try again after: cancelled, deadline, exhausted, aborted, out of range, unavailable, data loss. */
const passing = new Set([1, 4, 8, 10, 11, unavailable, 15]);

export class SpanExporter {
  readonly #o: SpanExporterOptions;
  readonly #queue: Delivery[] = [];
  #bytes = 0;
  #collector: Collector | undefined;
  #client: Client | undefined;
  #sending = false;
  readonly #stop = new AbortController();

  constructor(options: SpanExporterOptions) {
    this.#o = options;
  }

  /** Undefined: spans are thrown away. What waits goes to the new one. */
  aim(collector: Collector | undefined): void {
    if (JSON.stringify(collector) === JSON.stringify(this.#collector)) return;
    this.#client?.close();
    this.#client = undefined;
    this.#collector = collector;
    this.#o.onProblem(undefined);
  }

  /** Encoded as fields 2 of ScopeSpans. False: there is no room. */
  take(count: number, spans: Buffer): boolean {
    if (this.#collector === undefined) return true;
    if (this.#bytes + spans.length > mostBytes) return false;
    this.#queue.push({ count, spans });
    this.#bytes += spans.length;
    void this.#work();
    return true;
  }

  /** What was taken last is on its way for a moment yet. */
  async stop(): Promise<void> {
    const until = Date.now() + lastMs;
    while (this.#sending && Date.now() < until) await pause(20);
    this.#stop.abort();
    this.#client?.close();
  }

  async #work(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    let wait = 1000;
    for (let next = this.#queue[0]; next !== undefined && !this.#stop.signal.aborted; next = this.#queue[0]) {
      const error = await this.#send(next);
      if (error !== undefined && passing.has(error.code)) {
        this.#o.onProblem(`${error.details}; spans wait`);
        await pause(wait, undefined, { signal: this.#stop.signal }).catch(() => undefined);
        wait = Math.min(longestPause, wait * 2);
        continue;
      }
      wait = 1000;
      this.#queue.shift();
      this.#bytes -= next.spans.length;
      this.#o.onProblem(error === undefined ? undefined : `${error.details}; ${next.count} spans are lost`);
    }
    this.#sending = false;
  }

  async #send({ spans }: Delivery): Promise<Pick<ServiceError, "code" | "details"> | undefined> {
    const collector = this.#collector;
    if (collector === undefined) return undefined;
    const message = exportRequest(spans, { "service.name": collector.serviceName, "k8s.pod.name": this.#o.pod }, this.#o.version);
    const client = await this.#connect(collector);
    return await new Promise((resolve) => {
      const same = (bytes: Buffer) => bytes;
      const deadline = Date.now() + deadlineMs;
      try {
        client.makeUnaryRequest(method, same, same, message, { deadline }, (error) => resolve(error ?? undefined));
      } catch (error) {
        // closed meanwhile, because the settings name another collector
        if (client === this.#client) this.#client = undefined;
        resolve({ code: unavailable, details: (error as Error).message });
      }
    });
  }

  /** The library is read only where somebody traces. */
  async #connect({ host, port }: Collector): Promise<Client> {
    if (this.#client === undefined) {
      const grpc = await import("@grpc/grpc-js");
      const address = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
      this.#client = new grpc.Client(`${address}:${port}`, grpc.credentials.createInsecure());
    }
    return this.#client;
  }
}

/** ExportTraceServiceRequest with one resource and one scope. */
function exportRequest(spans: Buffer, resource: Readonly<Record<string, string>>, version: string): Buffer {
  const attributes = Object.entries(resource)
    .filter(([, value]) => value !== "")
    .map(([key, value]) => field(1, Buffer.concat([textField(1, key), field(2, textField(1, value))])));
  const scope = field(1, Buffer.concat([textField(1, "sluice"), textField(2, version)]));
  const scopeSpans = field(2, Buffer.concat([scope, spans]));
  return field(1, Buffer.concat([field(1, Buffer.concat(attributes)), scopeSpans]));
}

/** Protobuf: bytes with their length before them. */
function field(number: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([number * 8 + 2, ...varint(content.length)]), content]);
}

function textField(number: number, text: string): Buffer {
  return field(number, Buffer.from(text));
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}
