// The client side of a websocket: handshake, one text frame out, the first frame back.
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import type { RequestSpec } from "../case";
import type { ByteReader } from "./byte-reader";
import { readReply, requestBytes } from "./http1";
import type { Reply } from "./reply";
import { bodyOf, type Target } from "./target";

/** A final text frame, masked as clients must. */
export function textFrame(payload: Buffer): Buffer {
  const size = payload.length;
  const head =
    size < 126
      ? Buffer.from([0x81, 0x80 | size])
      : size < 0x10000
        ? Buffer.from([0x81, 0x80 | 126, size >> 8, size & 0xff])
        : Buffer.concat([
            Buffer.from([0x81, 0x80 | 127, 0, 0, 0, 0]),
            Buffer.from([size >>> 24, (size >> 16) & 0xff, (size >> 8) & 0xff, size & 0xff]),
          ]);
  const mask = randomBytes(4);
  return Buffer.concat([head, mask, payload.map((byte, i) => byte ^ mask[i % 4]!)]);
}

/** Payload of the next frame from a server, which sends them unmasked. */
export async function readFrame(reader: ByteReader): Promise<Buffer> {
  const short = (await reader.exactly(2))[1]! & 0x7f;
  const size =
    short === 126
      ? (await reader.exactly(2)).readUInt16BE(0)
      : short === 127
        ? Number((await reader.exactly(8)).readBigUInt64BE(0))
        : short;
  return reader.exactly(size);
}

export async function exchangeFrame(
  socket: Socket,
  reader: ByteReader,
  spec: RequestSpec,
  target: Target,
  extra: readonly (readonly [string, string])[],
): Promise<Reply> {
  const { body: _frame, ...handshake } = spec;
  const upgrade = [
    ["Connection", "Upgrade"],
    ["Upgrade", "websocket"],
    ["Sec-WebSocket-Version", "13"],
    ["Sec-WebSocket-Key", randomBytes(16).toString("base64")],
  ] as const;
  socket.write(requestBytes(handshake, target, [...upgrade, ...extra]));
  const reply = await readReply(reader, "GET");
  const body = bodyOf(spec);
  if (reply.status !== 101 || body === undefined) return reply;
  socket.write(textFrame(body));
  return { ...reply, body: await readFrame(reader) };
}
