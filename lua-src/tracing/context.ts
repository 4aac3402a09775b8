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

/** Version, trace, span and flags with dashes between them. */
const shortest = 55;
const noTrace = "00000000000000000000000000000000";
const noSpan = "0000000000000000";

const dash = 45;

/** Lower-case hexadecimal from `from` to `to`. */
function isHex(text: string, from: number, to: number): boolean {
  for (const i of $range(from, to)) {
    const byte = string.byte(text, i);
    if (byte < 48 || byte > 102 || (byte > 57 && byte < 97)) {
      return false;
    }
  }
  return true;
}

/** Trace, span and the decision of a traceparent; nothing where it is none. A later version may add fields. */
function readParent(text: string): LuaMultiReturn<[trace?: string, span?: string, sampled?: boolean]> {
  if (text.length < shortest || !isHex(text, 1, 2) || !isHex(text, 4, 35) || !isHex(text, 37, 52) || !isHex(text, 54, 55)) {
    return $multi();
  }
  if (string.byte(text, 3) !== dash || string.byte(text, 36) !== dash || string.byte(text, 53) !== dash) {
    return $multi();
  }
  const version = string.sub(text, 1, 2);
  const ends = text.length === shortest || (version !== "00" && string.byte(text, shortest + 1) === dash);
  const trace = string.sub(text, 4, 35);
  const span = string.sub(text, 37, 52);
  if (version === "ff" || !ends || trace === noTrace || span === noSpan) {
    return $multi();
  }
  // 1, 3, 5 … f
  return $multi(trace, span, (string.byte(text, shortest) % 2 === 1) === string.byte(text, shortest) < 58);
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
