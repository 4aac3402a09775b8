// Opens a connection to the proxy: source address, PROXY line, TLS.
import { once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from "node:tls";
import type { ClientTls, TlsVersion } from "../case";
import { TimedOut, type TlsSeen } from "./reply";

export interface Endpoint {
  readonly address: string;
  readonly port: number;
  readonly clientIp: string;
  readonly proxyLine: string | undefined;
  readonly tls: TlsWish | undefined;
}

export interface TlsWish extends ClientTls {
  /** Name to send unless `sni` says otherwise. */
  readonly host: string;
  readonly alpn: readonly string[];
  readonly cert?: string;
  readonly key?: string;
}

export interface Connection {
  readonly socket: Socket;
  readonly tls: TlsSeen | undefined;
}

const CONNECT_MS = 10_000;
const VERSIONS: readonly TlsVersion[] = ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"];

function isAddress(host: string): boolean {
  return host.startsWith("[") || /^[0-9.]+$/.test(host);
}

function tlsOptions(socket: Socket, wish: TlsWish): ConnectionOptions {
  const name = wish.sni === undefined ? (isAddress(wish.host) ? undefined : wish.host) : (wish.sni ?? undefined);
  const old = wish.max !== undefined && VERSIONS.indexOf(wish.max) < VERSIONS.indexOf("TLSv1.2");
  return {
    socket,
    rejectUnauthorized: false,
    ALPNProtocols: [...wish.alpn],
    minVersion: wish.min ?? (old ? "TLSv1" : "TLSv1.2"),
    maxVersion: wish.max ?? "TLSv1.3",
    ...(name === undefined ? {} : { servername: name }),
    // OpenSSL 3 has versions before 1.2 at its lowest level only.
    ...(wish.ciphers !== undefined || old ? { ciphers: wish.ciphers ?? "DEFAULT@SECLEVEL=0" } : {}),
    ...(wish.cert === undefined ? {} : { cert: wish.cert, key: wish.key }),
  };
}

function tlsSeen(socket: TLSSocket): TlsSeen {
  const cn: unknown = socket.getPeerCertificate()?.subject?.CN;
  return {
    protocol: socket.getProtocol() ?? "",
    cipher: socket.getCipher().name,
    subject_cn: Array.isArray(cn) ? String(cn[0]) : typeof cn === "string" ? cn : undefined,
    alpn: typeof socket.alpnProtocol === "string" ? socket.alpnProtocol : undefined,
  };
}

async function ready(socket: Socket, event: string): Promise<void> {
  const limit = AbortSignal.timeout(CONNECT_MS);
  const closed = new AbortController();
  const onClose = (): void => closed.abort();
  socket.once("close", onClose);
  try {
    await once(socket, event, { signal: AbortSignal.any([limit, closed.signal]) });
  } catch (error) {
    socket.destroy();
    if (limit.aborted) throw new TimedOut(`no ${event} within ${CONNECT_MS} ms`);
    if (closed.signal.aborted) throw new Error("the connection was closed");
    throw error;
  } finally {
    socket.off("close", onClose);
  }
}

/** Throws when refused, reset, or when the handshake fails. */
export async function openConnection(to: Endpoint): Promise<Connection> {
  const socket = connectTcp({ host: to.address, port: to.port, localAddress: to.clientIp, noDelay: true });
  await ready(socket, "connect");
  // Errors after this are seen by whoever reads; without a listener node would end the process.
  socket.on("error", () => undefined);
  if (to.proxyLine !== undefined) socket.write(`${to.proxyLine}\r\n`);
  if (to.tls === undefined) return { socket, tls: undefined };
  const secure = connectTls(tlsOptions(socket, to.tls));
  await ready(secure, "secureConnect");
  secure.on("error", () => undefined);
  return { socket: secure, tls: tlsSeen(secure) };
}
