// Reads a socket piece by piece. Data that came before an error or the end can still be read.
import type { Socket } from "node:net";
import { TimedOut } from "./reply";

export interface ByteReader {
  /** Up to and including the delimiter. Throws when the peer closes first. */
  until(delimiter: string): Promise<Buffer>;
  exactly(size: number): Promise<Buffer>;
  /** Everything until the peer closes. */
  rest(): Promise<Buffer>;
  /** Everything until the peer closes or, whichever is first: `total` ms passed, or `silence` ms without a byte. */
  during(limits: { readonly total?: number; readonly silence?: number }): Promise<Buffer>;
  /** Starts the deadline anew, for the next request on the connection. */
  renew(): void;
  readonly closed: boolean;
}

interface Inbox {
  data: Buffer;
  /** Arrived and not yet joined to `data`: joining at every packet makes a large body quadratic. */
  parts: Buffer[];
  ended: Error | undefined;
  wake: (() => void) | undefined;
}

function openInbox(socket: Socket): Inbox {
  const inbox: Inbox = { data: Buffer.alloc(0), parts: [], ended: undefined, wake: undefined };
  const end = (error: Error): void => {
    inbox.ended ??= error;
    inbox.wake?.();
  };
  socket.on("data", (part: Buffer) => {
    inbox.parts.push(part);
    inbox.wake?.();
  });
  socket.on("end", () => end(new Error("the connection was closed")));
  socket.on("close", () => end(new Error("the connection was closed")));
  socket.on("error", end);
  return inbox;
}

/** Waits for more than the `known` parts or for the end; false when the time is over first. */
function arrival(inbox: Inbox, known: number, ms: number): Promise<boolean> {
  if (inbox.ended !== undefined || inbox.parts.length > known) return Promise.resolve(true);
  return new Promise((done) => {
    const finish = (came: boolean): void => {
      clearTimeout(timer);
      inbox.wake = undefined;
      done(came);
    };
    const timer = setTimeout(() => finish(false), Math.max(0, ms));
    inbox.wake = () => finish(true);
  });
}

function available(inbox: Inbox): number {
  return inbox.parts.reduce((sum, one) => sum + one.length, inbox.data.length);
}

function take(inbox: Inbox, size: number): Buffer {
  if (inbox.parts.length > 0) inbox.data = Buffer.concat([inbox.data, ...inbox.parts]);
  inbox.parts = [];
  const out = inbox.data.subarray(0, size);
  inbox.data = inbox.data.subarray(size);
  return out;
}

/** `deadline` in ms from now, or from the last renewal, limits all reads together. */
export function createReader(socket: Socket, deadline: number): ByteReader {
  const inbox = openInbox(socket);
  let over = Date.now() + deadline;

  async function more(known: number): Promise<void> {
    if (!(await arrival(inbox, known, over - Date.now()))) throw new TimedOut(`no complete reply within ${deadline} ms`);
  }
  async function exactly(size: number): Promise<Buffer> {
    while (available(inbox) < size) {
      if (inbox.ended !== undefined) throw inbox.ended;
      await more(inbox.parts.length);
    }
    return take(inbox, size);
  }
  async function until(delimiter: string): Promise<Buffer> {
    for (;;) {
      inbox.data = take(inbox, available(inbox));
      const at = inbox.data.indexOf(delimiter);
      if (at >= 0) return take(inbox, at + delimiter.length);
      if (inbox.ended !== undefined) throw inbox.ended;
      await more(0);
    }
  }
  async function rest(): Promise<Buffer> {
    while (inbox.ended === undefined) await more(inbox.parts.length);
    return take(inbox, available(inbox));
  }
  async function during(limits: { readonly total?: number; readonly silence?: number }): Promise<Buffer> {
    const end = Date.now() + (limits.total ?? deadline);
    while (inbox.ended === undefined) {
      const ms = Math.min(end - Date.now(), limits.silence ?? Number.POSITIVE_INFINITY);
      if (ms <= 0 || !(await arrival(inbox, inbox.parts.length, ms))) break;
    }
    return take(inbox, available(inbox));
  }
  return {
    get closed() {
      return inbox.ended !== undefined;
    },
    renew: () => {
      over = Date.now() + deadline;
    },
    until,
    exactly,
    rest,
    during,
  };
}
