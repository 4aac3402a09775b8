/** An OpenTelemetry collector that keeps the spans it is sent: a real gRPC server, its messages read by protobufjs. */

import grpc from "@grpc/grpc-js";
import protobuf from "protobufjs";

// the parts of opentelemetry-proto that spans of ours have
const { root } = protobuf.parse(`
  syntax = "proto3";
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
  message Scope { string name = 1; string version = 2; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; } }
  message Status { string message = 2; int32 code = 3; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
    fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9; Status status = 15;
  }
`);
const requestType = root.lookupType("Request");
const path = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

export interface SentSpan {
  /** Hexadecimal. */
  readonly trace: string;
  readonly id: string;
  readonly parent: string;
  readonly state: string;
  readonly name: string;
  readonly kind: number;
  /** Nanoseconds since 1970. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, string>>;
  /** 0 unset, 2 error. */
  readonly status: number;
  /** Of the resource. */
  readonly resource: Readonly<Record<string, string>>;
  /** Number of the delivery that it came in. */
  readonly delivery: number;
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export class Collector {
  /** Spans that came. */
  received = 0;
  /** Those, unless the collector is to count them only. */
  readonly spans: SentSpan[] = [];
  /** A gRPC status to answer with instead of taking spans. */
  refusal: { readonly code: number; readonly details: string } | undefined;
  #deliveries = 0;
  readonly #keeps: boolean;
  readonly #server = new grpc.Server();

  private constructor(keeps: boolean) {
    this.#keeps = keeps;
  }

  /** Begins to listen on that port of the loopback. */
  static async start(port: number, keeps = true): Promise<Collector> {
    const collector = new Collector(keeps);
    const same = (bytes: Buffer) => bytes;
    const shape = { path, requestStream: false, responseStream: false };
    const service = {
      Export: { ...shape, requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same },
    };
    collector.#server.addService(service, {
      Export: (call: { readonly request: Buffer }, answer: grpc.sendUnaryData<Buffer>) => {
        if (collector.refusal !== undefined) {
          answer(collector.refusal, null);
          return;
        }
        collector.#read(call.request);
        answer(null, Buffer.alloc(0));
      },
    });
    await new Promise<void>((resolve, reject) => {
      const ready = (error: Error | null) => (error === null ? resolve() : reject(error));
      collector.#server.bindAsync(`127.0.0.1:${port}`, grpc.ServerCredentials.createInsecure(), ready);
    });
    return collector;
  }

  /** Deliveries that have come are answered before: one without an answer would come again, to whoever listens there next. */
  stop(): Promise<void> {
    return new Promise((resolve) => this.#server.tryShutdown(() => resolve()));
  }

  #read(bytes: Buffer): void {
    // biome-ignore lint/suspicious/noExplicitAny: the shape is the schema's above
    const message = requestType.toObject(requestType.decode(bytes), { longs: String, defaults: true, arrays: true }) as any;
    this.#deliveries += 1;
    for (const { resource, scopeSpans } of message.resourceSpans) {
      for (const span of scopeSpans.flatMap((scope: { readonly spans: readonly unknown[] }) => scope.spans)) {
        this.received += 1;
        if (!this.#keeps) continue;
        this.spans.push({
          trace: Buffer.from(span.traceId).toString("hex"),
          id: Buffer.from(span.spanId).toString("hex"),
          parent: Buffer.from(span.parentSpanId).toString("hex"),
          state: span.traceState,
          name: span.name,
          kind: span.kind,
          start: BigInt(span.startTimeUnixNano),
          end: BigInt(span.endTimeUnixNano),
          attributes: plain(span.attributes),
          status: span.status?.code ?? 0,
          resource: plain(resource.attributes),
          delivery: this.#deliveries,
        });
      }
    }
  }
}

function plain(attributes: readonly KeyValue[]): Record<string, string> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, String(value.stringValue ?? value.intValue)]));
}
