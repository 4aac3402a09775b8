/** ConfigMap keys: tracing and places on earth. */

import { bool, int, oneOf, pattern, text } from "../../catalog/kinds.ts";
import { setting } from "../../catalog/settings.ts";
import { filePath } from "../setting-kinds.ts";

export const telemetrySettings = {
  "enable-opentelemetry": setting({
    kind: bool,
    default: false,
    doc: "Traces are made at every location whose Ingress does not say otherwise: each request gets a span, and its backend learns of it by the header traceparent (W3C). $opentelemetry_trace_id, $opentelemetry_span_id and $opentelemetry_context_traceparent are there for log formats and snippets.",
  }),
  "geoip2-autoreload-in-minutes": setting({
    kind: int(),
    default: 0,
    applies: "reload",
    doc: "> 0 adds auto_reload.",
  }),
  "jaeger-baggage-header": setting({
    kind: text,
    default: undefined,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "No effect.",
  }),
  "jaeger-collector-host": setting({
    kind: text,
    default: undefined,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "No effect.",
  }),
  "jaeger-collector-port": setting({
    kind: text,
    default: undefined,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "No effect.",
  }),
  "jaeger-debug-header": setting({
    kind: text,
    default: undefined,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "No effect.",
  }),
  "jaeger-endpoint": setting({
    kind: text,
    default: undefined,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "No effect.",
  }),
  "jaeger-propagation-format": setting({
    kind: text,
    default: undefined,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "No effect.",
  }),
  "jaeger-sampler-host": setting({
    kind: text,
    default: undefined,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "No effect.",
  }),
  "jaeger-sampler-param": setting({
    kind: text,
    default: undefined,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "No effect.",
  }),
  "jaeger-sampler-port": setting({
    kind: text,
    default: undefined,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "No effect.",
  }),
  "jaeger-sampler-type": setting({
    kind: text,
    default: undefined,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "No effect.",
  }),
  "jaeger-service-name": setting({
    kind: text,
    default: undefined,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "No effect.",
  }),
  "jaeger-trace-baggage-header-prefix": setting({
    kind: text,
    default: undefined,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "No effect.",
  }),
  "jaeger-trace-context-header-name": setting({
    kind: text,
    default: undefined,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "No effect.",
  }),
  "opentelemetry-config": setting({
    kind: filePath,
    default: "/etc/ingress-controller/telemetry/opentelemetry.toml",
    support: "none",
    note: "Spans are made without an nginx module, so there is no file to configure one.",
    doc: "No effect.",
  }),
  "opentelemetry-operation-name": setting({ kind: text, default: "", doc: "Name of the spans; without it the path of the rule." }),
  "opentelemetry-trust-incoming-span": setting({
    kind: bool,
    default: true,
    doc: "Whether a trace that the client began (its header traceparent) goes on; else each request begins one.",
  }),
  "otel-max-export-batch-size": setting({ kind: int(1), default: 512, doc: "Spans in one delivery to the collector." }),
  "otel-max-queuesize": setting({
    kind: int(1),
    default: 2048,
    doc: "Spans that a worker keeps until they are delivered; more are dropped, with a word in the log.",
  }),
  "otel-sampler": setting({
    kind: oneOf(["AlwaysOn", "AlwaysOff", "TraceIdRatioBased"]),
    default: "AlwaysOn",
    doc: "Which traces that begin here are recorded: all, none, or the share of otel-sampler-ratio, chosen by the trace's id.",
  }),
  "otel-sampler-parent-based": setting({
    kind: bool,
    default: true,
    doc: "Whether traces that a trusted client began are recorded if the client recorded them; else otel-sampler decides on those as well.",
  }),
  "otel-sampler-ratio": setting({
    kind: pattern("number from 0 to 1", /^(0|1|0?\.[0-9]+|1\.0+|0\.)$/, "0.25", "2"),
    default: "0.01",
    doc: "Share of the traces that are recorded, for otel-sampler: TraceIdRatioBased.",
  }),
  "otel-schedule-delay-millis": setting({
    kind: int(1),
    default: 5000,
    doc: "Milliseconds until a span is delivered, at most; a full batch is delivered at once.",
  }),
  "otel-service-name": setting({ kind: text, default: "nginx", doc: "Attribute service.name of the spans' resource." }),
  "otlp-collector-host": setting({
    kind: pattern("host name or address", /^([A-Za-z0-9._-]+|[0-9A-Fa-f:.]+|\[[0-9A-Fa-f:.]+\])?$/, "collector.observability.svc", "a b"),
    default: "",
    doc: "Collector that takes spans by OTLP over gRPC, without TLS. Without it backends learn of traces, and no span is kept.",
  }),
  "otlp-collector-port": setting({ kind: pattern("port", /^[0-9]{1,5}$/, "4317", "otlp"), default: "4317", doc: "Its port." }),
  "use-geoip": setting({
    kind: text,
    default: undefined,
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "No effect.",
  }),
  "use-geoip2": setting({
    kind: bool,
    default: false,
    applies: "reload",
    doc: "Loads the module and the databases of --maxmind-edition-ids from /etc/ingress-controller/geoip; turned off with a warning when databases are missing.",
  }),
} as const;
