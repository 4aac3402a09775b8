/** enable-opentelemetry: a span for each request. */
import { flag, object, text } from "../configuration/check";
import { currentGeneral } from "../configuration/general";
import { beginSpan, parentText, type Span } from "../tracing/context";
import { addSpan } from "../tracing/exporter";
import { encodeSpan } from "../tracing/span";
import type { TraceDocument } from "../wire";
import type { Feature, RequestState } from "./feature";

/** Variables outlive an internal redirect, which has the request routed again: it stays the same span. */
function resumeSpan(): Span | undefined {
  const trace = ngx.var.get("opentelemetry_trace_id");
  if (trace === undefined || trace === "" || !ngx.req.is_internal()) {
    return undefined;
  }
  const parent = ngx.var.get("sluice_parent_span");
  return {
    trace,
    id: ngx.var.get("opentelemetry_span_id")!,
    parent: parent === "" ? undefined : parent,
    sampled: string.sub(ngx.var.get("opentelemetry_context_traceparent")!, -1) === "1",
  };
}

function tell(span: Span): void {
  const header = parentText(span);
  ngx.req.set_header("traceparent", header);
  // it belongs to the client's trace, which this one does not continue
  if (span.parent === undefined && ngx.var.get("http_tracestate") !== undefined) {
    ngx.req.clear_header("tracestate");
  }
  ngx.var.set("opentelemetry_trace_id", span.trace);
  ngx.var.set("opentelemetry_span_id", span.id);
  ngx.var.set("opentelemetry_context_traceparent", header);
  ngx.var.set("sluice_parent_span", span.parent ?? "");
}

function early(config: TraceDocument, request: RequestState): LuaMultiReturn<[number?, string?]> {
  request.span = resumeSpan();
  if (request.span === undefined) {
    request.span = beginSpan(config.distrust === true ? undefined : ngx.var.get("http_traceparent"));
    tell(request.span);
  }
  return $multi();
}

function log(config: TraceDocument, request: RequestState): LuaMultiReturn<[number?, string?]> {
  const span = request.span;
  const target = currentGeneral().tracing?.export;
  if (span?.sampled === true && target !== undefined) {
    addSpan(encodeSpan(span, config.name, request), target);
  }
  return $multi();
}

export const trace: Feature<TraceDocument, TraceDocument> = {
  check: object({ "name?": text, "distrust?": flag }),
  prepare: (document) => document,
  early,
  log,
};
