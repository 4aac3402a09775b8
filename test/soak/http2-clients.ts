/** HTTP/2 clients of the soak, over TLS: plain requests side by side, and gRPC with one message or a stream of them back. */

import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";
import { setTimeout as pause } from "node:timers/promises";
import { frameMessage } from "../kit/fixtures/grpc-echo.ts";
import { exchanges, judge, patienceMs } from "./http1-clients.ts";
import { hostOf, httpHosts } from "./services.ts";
import { type Client, type Counter, errorText } from "./tally.ts";

/** nginx ends a connection after 1000 requests; the next session comes long before. */
const roundsPerSession = 25;
const sideBySide = 4;

interface Answer {
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
}

function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  return new Promise((done, failed) => {
    let headers: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    const parts: Buffer[] = [];
    stream.setTimeout(patienceMs, () => stream.destroy(new Error("no answer in time")));
    stream.once("response", (got) => {
      headers = got;
    });
    stream.once("trailers", (got) => {
      trailers = got;
    });
    stream.on("data", (part: Buffer) => parts.push(part));
    stream.once("end", () => done({ headers, trailers, body: Buffer.concat(parts) }));
    stream.once("error", failed);
    stream.once("close", () => failed(new Error("the stream was closed")));
  });
}

function send(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body: Buffer | string): Promise<Answer> {
  const stream = session.request(headers, { endStream: body.length === 0 });
  if (body.length > 0) stream.end(body);
  return answerOf(stream);
}

type Ask = (session: ClientHttp2Session, host: string, turn: number) => Promise<string | undefined>;

async function plain(session: ClientHttp2Session, host: string, turn: number): Promise<string | undefined> {
  const wanted = exchanges[turn % exchanges.length]!;
  const headers = { ":method": wanted.method, ":path": wanted.path, ":authority": host };
  const answer = await send(session, headers, wanted.body);
  return judge(host, wanted, Number(answer.headers[":status"]), answer.headers["x-app"], answer.body.length);
}

async function grpc(session: ClientHttp2Session, host: string, turn: number): Promise<string | undefined> {
  const message = frameMessage(Buffer.from(`call ${turn}`));
  const streams = turn % 2 === 0;
  const path = `/soak.Echo/${streams ? "Stream" : "Once"}`;
  const headers = { ":method": "POST", ":path": path, ":authority": host, "content-type": "application/grpc", te: "trailers" };
  const answer = await send(session, headers, message);
  const code = answer.trailers["grpc-status"] ?? answer.headers["grpc-status"];
  const status = Number(answer.headers[":status"]);
  if (status !== 200 || code !== "0") return `status ${status}, grpc-status ${code}`;
  const wanted = Buffer.concat(Array.from({ length: streams ? 5 : 1 }, () => message));
  return answer.body.equals(wanted) ? undefined : "other messages than were sent";
}

function open(host: string): Promise<ClientHttp2Session> {
  return new Promise((done, failed) => {
    const session = connect("https://127.0.0.1:443", { servername: host, rejectUnauthorized: false });
    session.once("connect", () => done(session));
    session.once("error", failed);
  });
}

async function useSession(host: string, from: number, ask: Ask, counter: Counter): Promise<void> {
  const session = await open(host);
  session.on("error", () => undefined);
  for (let round = 0; round < roundsPerSession; round++) {
    const asked = Array.from({ length: sideBySide }, (_, index) => ask(session, host, from + round * sideBySide + index).catch(errorText));
    for (const problem of await Promise.all(asked)) counter.add(problem);
    await pause(40);
  }
  await new Promise<void>((done) => session.close(done));
}

async function run(hosts: readonly string[], offset: number, ask: Ask, isOver: () => boolean, counter: Counter): Promise<void> {
  for (let turn = offset; !isOver(); turn++) {
    try {
      await useSession(hosts[turn % hosts.length]!, turn, ask, counter);
    } catch (error) {
      counter.add(`no connection: ${errorText(error as Error)}`);
    }
  }
}

export const http2Clients: readonly Client[] = [
  { name: "HTTP/2", loops: 2, run: (offset, isOver, counter) => run(httpHosts, offset, plain, isOver, counter) },
  { name: "gRPC, single and streams", loops: 2, run: (offset, isOver, counter) => run([hostOf("rpc")], offset, grpc, isOver, counter) },
];
