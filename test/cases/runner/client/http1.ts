// HTTP/1.0 and 1.1 by hand: node's client tidies targets and headers, and cases are about exactly those.
import type { Socket } from "node:net";
import type { RequestSpec } from "../case";
import type { ByteReader } from "./byte-reader";
import type { Reply } from "./reply";
import { authority, bodyOf, headerLines, type Target } from "./target";

export interface Http1Reply extends Reply {
  readonly status: number;
  /** The connection may carry another request. */
  readonly keep: boolean;
}

interface Head {
  readonly status: number;
  readonly version: string;
  readonly headers: Reply["headers"];
}

function chunkedBody(body: Buffer): Buffer {
  const head = body.length > 0 ? Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n")]) : body;
  return Buffer.concat([head, Buffer.from("0\r\n\r\n")]);
}

/** The bytes of a request; `extra` header lines go last. */
export function requestBytes(spec: RequestSpec, target: Target, extra: readonly (readonly [string, string])[]): Buffer {
  const method = spec.method ?? "GET";
  const lines = [...headerLines(spec), ...extra];
  const has = (name: string): boolean => lines.some(([one]) => one.toLowerCase() === name);
  const body = bodyOf(spec);
  const head = [`${method} ${target.path} HTTP/${spec.http_version === "1.0" ? "1.0" : "1.1"}`];
  if (!has("host")) head.push(`Host: ${authority(target)}`);
  head.push(...lines.map(([name, value]) => `${name}: ${value}`));
  if (spec.chunked === true) head.push("Transfer-Encoding: chunked");
  else if (!has("content-length") && (body !== undefined || ["POST", "PUT", "PATCH"].includes(method)))
    head.push(`Content-Length: ${body?.length ?? 0}`);
  const sent = spec.chunked === true ? chunkedBody(body ?? Buffer.alloc(0)) : (body ?? Buffer.alloc(0));
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), sent]);
}

export function parseHead(text: string): Head {
  const [first = "", ...lines] = text.replace(/\r?\n$/, "").split(/\r?\n/);
  const status = first.match(/^HTTP\/(\d\.\d) (\d{3})/);
  if (status === null) throw new Error(`not an HTTP reply: ${JSON.stringify(first.slice(0, 80))}`);
  const headers = lines
    .filter((line) => line.includes(":"))
    .map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
    });
  return { status: Number(status[2]), version: status[1]!, headers };
}

function one(head: Head, name: string): string | undefined {
  return head.headers.find(([key]) => key.toLowerCase() === name)?.[1].toLowerCase();
}

/** Head of the first final reply; 100 and its like are skipped, 101 is final. */
export async function readHead(reader: ByteReader): Promise<Head> {
  for (;;) {
    const head = parseHead((await reader.until("\r\n\r\n")).toString("latin1").slice(0, -2));
    if (head.status >= 200 || head.status === 101) return head;
  }
}

async function readChunks(reader: ByteReader): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (;;) {
    const size = Number.parseInt((await reader.until("\r\n")).toString("latin1"), 16);
    if (Number.isNaN(size)) throw new Error("broken chunk in the reply");
    if (size === 0) break;
    parts.push(await reader.exactly(size));
    await reader.until("\r\n");
  }
  while ((await reader.until("\r\n")).length > 2);
  return Buffer.concat(parts);
}

function hasNoBody(method: string, status: number): boolean {
  return method === "HEAD" || status === 204 || status === 304 || status === 101;
}

export async function readReply(reader: ByteReader, method: string): Promise<Http1Reply> {
  const head = await readHead(reader);
  const length = one(head, "content-length");
  const chunked = one(head, "transfer-encoding")?.includes("chunked") ?? false;
  const connection = one(head, "connection") ?? "";
  const framed = chunked || length !== undefined || hasNoBody(method, head.status);
  const keep = framed && (head.version === "1.1" ? connection !== "close" : connection === "keep-alive");
  const reply = { status: head.status, headers: head.headers };
  if (hasNoBody(method, head.status)) return { ...reply, body: Buffer.alloc(0), keep };
  if (chunked) return { ...reply, body: await readChunks(reader), keep };
  if (length !== undefined) return { ...reply, body: await reader.exactly(Number(length)), keep };
  return { ...reply, body: await reader.rest(), keep: false };
}

export async function exchange(socket: Socket, reader: ByteReader, bytes: Buffer, method: string): Promise<Http1Reply> {
  socket.write(bytes);
  return readReply(reader, method);
}
