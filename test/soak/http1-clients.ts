/** HTTP/1.1 clients of the soak: connections that are kept, connections for one request, full TLS handshakes with SNI. */

import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { type Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { httpHosts, servicesOf } from "./services.ts";
import { type Client, type Counter, errorText } from "./tally.ts";

export const patienceMs = 30_000;

interface Exchange {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body: string;
  /** Length of the answer. */
  readonly length: number;
}

/** In turn: small and large answers, bodies in both directions, answers that take their time. */
export const exchanges: readonly Exchange[] = [
  { method: "GET", path: "/bytes/200", body: "", length: 200 },
  { method: "POST", path: "/echo", body: "p".repeat(3000), length: 3000 },
  { method: "GET", path: "/bytes/60000", body: "", length: 60_000 },
  { method: "GET", path: "/delay/60", body: "", length: 2 },
  { method: "GET", path: "/bytes/5000", body: "", length: 5000 },
];

/** Undefined when the answer is the one that was wanted. */
export function judge(host: string, wanted: Exchange, status: number, app: unknown, length: number): string | undefined {
  if (status !== 200) return `status ${status}`;
  if (!servicesOf(host).includes(String(app))) return `answered by ${app} instead of ${host}`;
  return length === wanted.length ? undefined : `${length} bytes instead of ${wanted.length}`;
}

function lengthOf(answer: IncomingMessage): Promise<number> {
  return new Promise((done, failed) => {
    let length = 0;
    answer.on("data", (part: Buffer) => {
      length += part.length;
    });
    answer.once("end", () => done(length));
    answer.once("error", failed);
  });
}

interface Way {
  readonly tls: boolean;
  /** Undefined: a connection of its own. */
  readonly agent: Agent | HttpsAgent | undefined;
}

async function exchange(host: string, wanted: Exchange, { tls, agent }: Way): Promise<string | undefined> {
  const { method, path, body } = wanted;
  const options = { host: "127.0.0.1", port: tls ? 443 : 80, method, path, agent: agent ?? false, timeout: patienceMs };
  const headers = { host, "content-length": Buffer.byteLength(body) };
  try {
    const answer = await new Promise<IncomingMessage>((done, failed) => {
      const sent = tls
        ? httpsRequest({ ...options, headers, servername: host, rejectUnauthorized: false }, done)
        : httpRequest({ ...options, headers }, done);
      sent.once("timeout", () => sent.destroy(new Error("no answer in time")));
      sent.once("error", failed);
      sent.end(body);
    });
    return judge(host, wanted, answer.statusCode!, answer.headers["x-app"], await lengthOf(answer));
  } catch (error) {
    return errorText(error as Error);
  }
}

async function run(offset: number, way: Way, isOver: () => boolean, counter: Counter): Promise<void> {
  for (let turn = offset; !isOver(); turn++) {
    const host = httpHosts[turn % httpHosts.length]!;
    counter.add(await exchange(host, exchanges[turn % exchanges.length]!, way));
    await pause(10);
  }
  way.agent?.destroy();
}

export const http1Clients: readonly Client[] = [
  {
    name: "HTTP/1.1, kept connections",
    loops: 6,
    run: (offset, isOver, counter) => run(offset, { tls: false, agent: new Agent({ keepAlive: true }) }, isOver, counter),
  },
  {
    name: "HTTP/1.1, a connection each",
    loops: 2,
    run: (offset, isOver, counter) => run(offset, { tls: false, agent: undefined }, isOver, counter),
  },
  {
    name: "HTTPS, a handshake each",
    loops: 2,
    run: (offset, isOver, counter) => run(offset, { tls: true, agent: undefined }, isOver, counter),
  },
];
