/** Annotations and settings: tracing. Spans are made by the data plane (lua-src/tracing) and sent by report/otlp.ts. */

import type { FeatureDocuments, TracingDocument } from "../../lua-src/wire.ts";
import { feature, row } from "../catalog/feature.ts";
import { basicText, bool } from "../catalog/kinds.ts";
import type { Settings } from "../catalog/settings.ts";

export const telemetry = feature({
  name: "telemetry",
  rows: {
    "enable-opentelemetry": row({
      kind: bool,
      default: undefined,
      risk: "low",
      onInvalid: "default",
      doc: "Traces are made for its locations, or are not, whatever the ConfigMap's key of the same name says: each request gets a span, and its backend learns of it by the header traceparent.",
    }),
    "opentelemetry-operation-name": row({
      kind: basicText,
      default: undefined,
      risk: "medium",
      onInvalid: "reject",
      doc: "Name of the spans; without it that of the ConfigMap, else the path of the rule. Read only beside enable-opentelemetry: true.",
    }),
    "opentelemetry-trust-incoming-span": row({
      kind: bool,
      default: undefined,
      risk: "low",
      onInvalid: "default",
      doc: "Whether a trace that the client began (its header traceparent) goes on; else each request begins one. Read only beside enable-opentelemetry: true.",
    }),
  },
  build: (v, { settings }) =>
    traceOf(settings, {
      enabled: v["enable-opentelemetry"],
      name: v["opentelemetry-operation-name"],
      trusts: v["opentelemetry-trust-incoming-span"],
    }),
});

interface Own {
  readonly enabled?: boolean | undefined;
  readonly name?: string | undefined;
  readonly trusts?: boolean | undefined;
}

/** `own`: of the location's Ingress, if it has one. */
export function traceOf(settings: Settings, { enabled, name, trusts }: Own = {}): Pick<FeatureDocuments, "trace"> | undefined {
  if (!(enabled ?? settings["enable-opentelemetry"])) return undefined;
  const called = (enabled === true ? name : undefined) ?? settings["opentelemetry-operation-name"];
  const trusting = (enabled === true ? trusts : undefined) ?? settings["opentelemetry-trust-incoming-span"];
  return { trace: { ...(called === "" ? {} : { name: called }), ...(trusting ? {} : { distrust: true }) } };
}

/** Where the spans of all go. */
export interface Collector {
  readonly host: string;
  readonly port: string;
  readonly serviceName: string;
}

export function collectorOf(settings: Settings): Collector | undefined {
  const host = settings["otlp-collector-host"];
  return host === "" ? undefined : { host, port: settings["otlp-collector-port"], serviceName: settings["otel-service-name"] };
}

const shares = { AlwaysOn: () => 1, AlwaysOff: () => 0, TraceIdRatioBased: (ratio: string) => Number(ratio) };

/** `socket`: where the controller takes spans. Undefined: as the data plane does it anyway. */
export function tracingOf(settings: Settings, socket: string): TracingDocument | undefined {
  const ratio = shares[settings["otel-sampler"]](settings["otel-sampler-ratio"]);
  const parentBased = settings["otel-sampler-parent-based"];
  const exports = collectorOf(settings) !== undefined;
  if (ratio === 1 && parentBased && !exports) return undefined;
  const target = {
    socket,
    batch: settings["otel-max-export-batch-size"],
    queue: settings["otel-max-queuesize"],
    delay: settings["otel-schedule-delay-millis"],
  };
  return { ratio, parentBased, ...(exports ? { export: target } : {}) };
}
