// HTTP/2 over a connection that is already open (ALPN said h2, or prior knowledge), gRPC included.
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from "node:http2";
import { firstMessage, frameMessage } from "../../../kit/fixtures/grpc-echo";
import type { RequestSpec } from "../case";
import type { Connection } from "./connection";
import { type Reply, TimedOut } from "./reply";
import { authority, bodyOf, headerLines, type Target } from "./target";

export function openSession(connection: Connection, target: Target): ClientHttp2Session {
  const scheme = connection.tls === undefined ? "http" : "https";
  const session = connect(`${scheme}://${authority(target)}`, { createConnection: () => connection.socket });
  // Seen by the streams; without a listener node would end the process.
  session.on("error", () => undefined);
  return session;
}

function requestHeaders(spec: RequestSpec, target: Target, extra: readonly (readonly [string, string])[]): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    ":method": spec.method ?? (spec.protocol === "grpc" ? "POST" : "GET"),
    ":path": target.path,
    ":scheme": target.scheme === "https" ? "https" : "http",
    ":authority": authority(target),
  };
  for (const [name, value] of [...headerLines(spec), ...extra]) {
    const key = name.toLowerCase() === "host" ? ":authority" : name.toLowerCase();
    const before = headers[key];
    headers[key] = key === ":authority" || before === undefined ? value : [...(Array.isArray(before) ? before : [String(before)]), value];
  }
  if (spec.protocol === "grpc") {
    headers["content-type"] ??= "application/grpc";
    headers.te ??= "trailers";
  }
  return headers;
}

function pairs(flat: readonly string[]): (readonly [string, string])[] {
  const out: (readonly [string, string])[] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) if (!flat[i]!.startsWith(":")) out.push([flat[i]!, flat[i + 1]!]);
  return out;
}

function collect(stream: ClientHttp2Stream, deadline: number): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const headers: (readonly [string, string])[] = [];
    let status: number | undefined;
    const timer = setTimeout(() => {
      reject(new TimedOut(`no complete reply within ${deadline} ms`));
      stream.close();
    }, deadline);
    // The third argument, the headers as they came, is not in node's documentation before 24 but is there.
    const keep = (_folded: unknown, _flags: number, flat: readonly string[]): void => void headers.push(...pairs(flat));
    stream.on("response", (folded, flags, ...rest) => {
      status = Number(folded[":status"]);
      keep(folded, flags, (rest as unknown as [string[]])[0]);
    });
    stream.on("trailers", (folded, flags, ...rest) => keep(folded, flags, (rest as unknown as [string[]])[0]));
    stream.on("data", (part: Buffer) => parts.push(part));
    stream.on("error", () => undefined);
    stream.on("close", () => {
      clearTimeout(timer);
      if (status === undefined) reject(new Error(`the stream was closed without a reply (code ${stream.rstCode})`));
      else resolve({ status, headers, body: Buffer.concat(parts) });
    });
  });
}

/** One request on the session. For gRPC the body of the reply is the payload of the first message. */
export async function exchange2(
  session: ClientHttp2Session,
  spec: RequestSpec,
  target: Target,
  extra: readonly (readonly [string, string])[],
  deadline: number,
): Promise<Reply> {
  const grpc = spec.protocol === "grpc";
  const body = grpc ? frameMessage(bodyOf(spec) ?? Buffer.alloc(0)) : bodyOf(spec);
  const headers = requestHeaders(spec, target, extra);
  if (body !== undefined && !grpc && spec.chunked !== true) headers["content-length"] ??= String(body.length);
  const stream = session.request(headers, { endStream: body === undefined });
  const reply = collect(stream, deadline);
  if (body !== undefined) stream.end(body);
  const came = await reply;
  return grpc ? { ...came, body: firstMessage(came.body) ?? came.body } : came;
}
