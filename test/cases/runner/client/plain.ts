// Bytes without HTTP, or with HTTP that no client would write: raw requests, tcp:// and udp://.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { Socket } from "node:net";
import type { ByteReader } from "./byte-reader";
import type { Endpoint } from "./connection";
import { readHead } from "./http1";
import { type Reply, TimedOut } from "./reply";
import { rawBytes } from "./target";

const SILENCE_MS = 1000;
const FIRST_DATAGRAM_MS = 5000;

/** Everything that follows the head within a second is the body. */
export async function exchangeRaw(socket: Socket, reader: ByteReader, raw: string): Promise<Reply> {
  socket.write(rawBytes(raw));
  const head = await readHead(reader);
  return { status: head.status, headers: head.headers, body: await reader.during({ total: SILENCE_MS }) };
}

export async function exchangeTcp(socket: Socket, reader: ByteReader, raw: string): Promise<Reply> {
  socket.write(rawBytes(raw));
  const body = await reader.during({ silence: SILENCE_MS });
  if (body.length === 0 && reader.closed) throw new Error("the connection was closed without a byte");
  return { status: undefined, headers: [], body };
}

export async function exchangeUdp(to: Endpoint, raw: string): Promise<Reply> {
  const socket = createSocket("udp4");
  const parts: Buffer[] = [];
  let wake: (() => void) | undefined;
  let broken: Error | undefined;
  socket.on("message", (data) => {
    parts.push(data);
    wake?.();
  });
  socket.on("error", (error) => {
    broken = error;
    wake?.();
  });
  try {
    socket.bind({ address: to.clientIp });
    await once(socket, "listening");
    socket.connect(to.port, to.address);
    await once(socket, "connect");
    socket.send(rawBytes(raw));
    for (let known = -1; known < parts.length && broken === undefined; ) {
      known = parts.length;
      await new Promise<void>((done) => {
        const timer = setTimeout(done, known === 0 ? FIRST_DATAGRAM_MS : SILENCE_MS);
        wake = () => {
          clearTimeout(timer);
          done();
        };
      });
    }
    if (broken !== undefined) throw broken;
    if (parts.length === 0) throw new TimedOut(`no datagram within ${FIRST_DATAGRAM_MS} ms`);
    return { status: undefined, headers: [], body: Buffer.concat(parts) };
  } finally {
    socket.close();
  }
}
