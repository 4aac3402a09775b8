/** W3C trace context: whose trace a request belongs to, whether it is recorded, and what its backend is told. */
import { currentGeneral } from "../configuration/general";

/** Ids are lower-case hexadecimal. */
export interface Span {
  readonly trace: string;
  readonly id: string;
  /** Absent: the trace begins here. */
  readonly parent: string | undefined;
  readonly sampled: boolean;
}

const traceLength = 32;
const spanLength = 16;
const noTrace = "00000000000000000000000000000000";
const noSpan = "0000000000000000";

function isId(text: string, length: number, none: string): boolean {
  return text.length === length && text !== none && string.lower(text) === text;
}

/** Trace, span and the decision of a traceparent; nothing where it is none. A later version may add fields. */
function readParent(text: string): LuaMultiReturn<[trace?: string, span?: string, sampled?: boolean]> {
  const [version, trace, span, flags, rest] = string.match(text, "^(%x%x)%-(%x+)%-(%x+)%-(%x%x)(.*)$");
  if (version === undefined || !isId(trace!, traceLength, noTrace) || !isId(span!, spanLength, noSpan)) {
    return $multi();
  }
  const later = version !== "00" && version !== "ff" && string.byte(rest!) === 45;
  if (version === "ff" || (rest !== "" && !later)) {
    return $multi();
  }
  return $multi(trace, span, tonumber(flags, 16)! % 2 === 1);
}

function newSpanId(): string {
  return string.format("%08x%08x", math.random(0, 4294967295), math.random(1, 4294967295));
}

/** `decided`: by a trusted client; undefined without one. */
function isSampled(trace: string, decided: boolean | undefined): boolean {
  const tracing = currentGeneral().tracing;
  if (decided !== undefined && tracing?.parentBased !== false) {
    return decided;
  }
  // its last half is random in every trace, whoever made it
  return tracing === undefined || tonumber(string.sub(trace, -8), 16)! < tracing.ratio * 4294967296;
}

/** `received`: the client's traceparent where it is trusted. $request_id is 16 random bytes that the request has anyway. */
function beginSpan(received: string | undefined): Span {
  if (received !== undefined) {
    const [trace, parent, decided] = readParent(received);
    if (trace !== undefined) {
      return { trace, id: newSpanId(), parent, sampled: isSampled(trace, decided) };
    }
  }
  const trace = ngx.var.get("request_id")!;
  return { trace, id: newSpanId(), parent: undefined, sampled: isSampled(trace, undefined) };
}

function parentText({ trace, id, sampled }: Span): string {
  return `00-${trace}-${id}-${sampled ? "01" : "00"}`;
}

export { beginSpan, parentText, readParent };
