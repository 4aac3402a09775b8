/** Websocket clients of the soak: sessions of some seconds, in which each message must come back. */

import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import { patienceMs } from "./http1-clients.ts";
import { goingAway } from "./pods.ts";
import { hostOf } from "./services.ts";
import { type Client, type Counter, errorText } from "./tally.ts";

const messages = 50;

/** Resolves with the next message, or the code with which the session was closed. */
function next(session: WebSocket): Promise<string | number> {
  return new Promise((done) => {
    function onMessage(data: Buffer): void {
      session.off("close", onClose);
      done(data.toString());
    }
    function onClose(code: number): void {
      session.off("message", onMessage);
      done(code);
    }
    session.once("message", onMessage);
    session.once("close", onClose);
  });
}

/** A pod that stops says so: that ends the session early and is no failure. */
async function talk(session: WebSocket, offset: number): Promise<string | undefined> {
  await once(session, "open", { signal: AbortSignal.timeout(patienceMs) });
  for (let number = 0; number < messages; number++) {
    if (session.readyState !== WebSocket.OPEN) break;
    const text = `${offset}: ${"m".repeat(number * 20)}`;
    const answer = next(session);
    session.send(text, () => undefined);
    const got = await answer;
    if (got === goingAway) return undefined;
    if (typeof got === "number") return `closed with ${got}`;
    if (got !== text) return "another message than was sent";
    await pause(150);
  }
  return undefined;
}

async function run(offset: number, isOver: () => boolean, counter: Counter): Promise<void> {
  while (!isOver()) {
    const session = new WebSocket("ws://127.0.0.1:80/", { headers: { host: hostOf("sessions") }, handshakeTimeout: patienceMs });
    let trouble: string | undefined;
    let code: number | undefined;
    session.on("error", (error) => {
      trouble = errorText(error);
    });
    const closed = new Promise<void>((done) => {
      session.once("close", (with_) => {
        code = with_;
        done();
      });
    });
    const problem = await talk(session, offset).catch((error: Error) => errorText(error));
    session.close();
    await closed;
    // closed between two messages
    const early = code === 1005 || code === 1000 || code === goingAway ? undefined : `closed with ${code}`;
    counter.add(trouble ?? problem ?? early);
  }
}

export const websocketClients: readonly Client[] = [{ name: "websocket sessions", loops: 8, run }];
