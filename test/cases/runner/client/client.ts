// Sends the requests of one step: chooses port, connection and protocol as FORMAT.md says.
import type { ClientHttp2Session } from "node:http2";
import type { RequestSpec } from "../case";
import { type ByteReader, createReader } from "./byte-reader";
import { type Connection, type Endpoint, openConnection, type TlsWish } from "./connection";
import { exchange, requestBytes } from "./http1";
import { exchange2, openSession } from "./http2";
import { exchangeRaw, exchangeTcp, exchangeUdp } from "./plain";
import { failureOf, type Outcome, type Reply, TimedOut } from "./reply";
import { parseTarget, type Target } from "./target";
import { exchangeFrame } from "./websocket";

export interface ProxyAddress {
  readonly address: string;
  readonly ports: { readonly http: number; readonly https: number };
}

export interface Sender {
  /** Sends the request once more; `extra` header lines come on top. Never throws. */
  send(extra: readonly (readonly [string, string])[]): Promise<Outcome>;
  close(): void;
}

export interface SenderOptions {
  readonly proxy: ProxyAddress;
  readonly spec: RequestSpec;
  readonly clientIp: string;
  readonly reuse: boolean;
  readonly clientCert: { readonly cert: string; readonly key: string } | undefined;
}

const REPLY_MS = 15_000;
type Extra = readonly (readonly [string, string])[];

interface Line {
  readonly connection: Connection;
  readonly reader: ByteReader | undefined;
  readonly session: ClientHttp2Session | undefined;
}

function alpnOf(spec: RequestSpec): readonly string[] {
  if (spec.protocol === "grpc") return ["h2"];
  if (spec.protocol === "websocket" || spec.raw !== undefined) return ["http/1.1"];
  return spec.http_version === "1.0" || spec.http_version === "1.1" ? ["http/1.1"] : ["h2", "http/1.1"];
}

function endpointOf(options: SenderOptions, target: Target): Endpoint {
  const { spec, proxy } = options;
  const tls: TlsWish | undefined =
    target.scheme === "https" ? { ...spec.tls, host: target.host, alpn: alpnOf(spec), ...options.clientCert } : undefined;
  const port = target.port ?? (target.scheme === "https" ? proxy.ports.https : proxy.ports.http);
  return { address: proxy.address, port, clientIp: options.clientIp, proxyLine: spec.proxy_protocol, tls };
}

function speaksHttp2(spec: RequestSpec, connection: Connection): boolean {
  return connection.tls === undefined ? spec.protocol === "grpc" || spec.http_version === "2" : connection.tls.alpn === "h2";
}

async function openLine(options: SenderOptions, target: Target): Promise<Line> {
  const connection = await openConnection(endpointOf(options, target));
  if (speaksHttp2(options.spec, connection)) return { connection, reader: undefined, session: openSession(connection, target) };
  if (options.spec.protocol === "grpc") {
    connection.socket.destroy();
    throw new Error(`the proxy does not speak HTTP/2 here (ALPN: ${connection.tls?.alpn ?? "nothing"})`);
  }
  return { connection, reader: createReader(connection.socket, REPLY_MS), session: undefined };
}

function closeLine(line: Line): void {
  line.session?.destroy();
  line.connection.socket.destroy();
}

/** `keep` false: the line cannot carry another request. */
async function exchangeOn(
  line: Line,
  spec: RequestSpec,
  target: Target,
  extra: Extra,
): Promise<{ readonly reply: Reply; readonly keep: boolean }> {
  const { socket } = line.connection;
  if (line.session !== undefined)
    return { reply: await exchange2(line.session, spec, target, extra, REPLY_MS), keep: !line.session.closed };
  const reader = line.reader!;
  reader.renew();
  if (target.scheme === "tcp") return { reply: await exchangeTcp(socket, reader, spec.raw ?? ""), keep: false };
  if (spec.raw !== undefined) return { reply: await exchangeRaw(socket, reader, spec.raw), keep: false };
  if (spec.protocol === "websocket") return { reply: await exchangeFrame(socket, reader, spec, target, extra), keep: false };
  const method = spec.method ?? "GET";
  const reply = await exchange(socket, reader, requestBytes(spec, target, extra), method);
  return { reply, keep: reply.keep && !reader.closed };
}

export function createSender(options: SenderOptions): Sender {
  const target = parseTarget(options.spec.url);
  let kept: Line | undefined;
  function drop(line: Line): void {
    if (kept === line) kept = undefined;
    closeLine(line);
  }
  async function send(extra: Extra): Promise<Outcome> {
    const again = kept !== undefined;
    let line: Line | undefined;
    try {
      if (target.scheme === "udp") return { kind: "reply", reply: await exchangeUdp(endpointOf(options, target), options.spec.raw ?? "") };
      line = kept ?? (await openLine(options, target));
      const { reply, keep } = await exchangeOn(line, options.spec, target, extra);
      if (options.reuse && keep) kept = line;
      else drop(line);
      return { kind: "reply", reply: { ...reply, tls: line.connection.tls } };
    } catch (error) {
      if (line !== undefined) drop(line);
      // The proxy may close an idle connection at any time; clients then try once more on a new one.
      return again && !(error instanceof TimedOut) ? send(extra) : failureOf(error);
    }
  }
  return {
    send,
    close: () => {
      if (kept !== undefined) drop(kept);
    },
  };
}
