/**
 * One small HTTP/1.1 request over a cosocket: status and headers come back, the body is only read away where the
 * connection is to be kept. Works in every phase that may wait, for clients of every protocol version.
 */
import { parseAddress } from "../base/address";

export interface Target {
  readonly secure: boolean;
  /** A name, or an address (IPv6 in brackets). */
  readonly host: string;
  readonly port: number;
}

export interface Keepalive {
  /** Idle connections per worker. */
  readonly connections: number;
  /** Requests on one connection. */
  readonly requests: number;
  /** Milliseconds idle. */
  readonly timeout: number;
}

/** Milliseconds. */
export interface Timeouts {
  readonly connect: number;
  readonly send: number;
  readonly read: number;
}

export interface Reply {
  readonly status: number;
  /** Lines by lower-case name, from 1. */
  readonly headers: LuaTable<string, LuaTable<number, string> | undefined>;
  /** The other side keeps the connection, if the body's end is clear. */
  readonly persistent: boolean;
}

/** Bytes; an answer with a longer head is an error, a longer body costs the connection. */
const mostHead = 65536;
const mostBody = 65536;
const mostInterim = 10;
/** nginx picks one of a name's addresses at random for each. */
const mostDials = 8;

interface Reader {
  readonly socket: TcpSocket;
  /** Received and not used. */
  buffer: string;
}

/** False at the end of the stream or on failure. */
function fill(reader: Reader): LuaMultiReturn<[boolean, string | undefined]> {
  const [more, problem] = reader.socket.receiveany(mostHead);
  if (more === undefined) {
    return $multi(false, problem);
  }
  reader.buffer += more;
  return $multi(true, undefined);
}

/** All up to the first match of `pattern`; what follows it stays in the buffer. */
function readUntil(reader: Reader, pattern: string, most: number): LuaMultiReturn<[string | undefined, string | undefined]> {
  while (true) {
    const [from, to] = string.find(reader.buffer, pattern);
    if (from !== undefined && to !== undefined) {
      const text = string.sub(reader.buffer, 1, from - 1);
      reader.buffer = string.sub(reader.buffer, to + 1);
      return $multi(text, undefined);
    }
    if (reader.buffer.length > most) {
      return $multi(undefined, "the head is too long");
    }
    const [ok, problem] = fill(reader);
    if (!ok) {
      return $multi(undefined, problem);
    }
  }
}

/** Reads `count` bytes away. */
function skip(reader: Reader, count: number): boolean {
  while (reader.buffer.length < count) {
    const [ok] = fill(reader);
    if (!ok) {
      return false;
    }
  }
  reader.buffer = string.sub(reader.buffer, count + 1);
  return true;
}

function parseHeaders(text: string): Reply["headers"] {
  const headers: Reply["headers"] = new LuaTable();
  for (const [line] of string.gmatch(text, "[^\r\n]+")) {
    const [name, value] = string.match(line!, "^([^%s:]+):[ \t]*(.-)[ \t]*$");
    if (name !== undefined && value !== undefined) {
      const lower = string.lower(name);
      const lines = headers.get(lower) ?? new LuaTable<number, string>();
      lines.set(lines.length() + 1, value);
      headers.set(lower, lines);
    }
  }
  return headers;
}

/** A carriage return of its own would end a line for some readers and not for others. */
function isMalformed(text: string): boolean {
  const [found] = string.find(text, "[%z]");
  const [lone] = string.find(`${text}\n`, "\r[^\n]");
  const [last] = string.find(text, "\r$");
  return found !== undefined || lone !== undefined || last !== undefined;
}

function parseHead(text: string): Reply | undefined {
  const [minor, digits, rest] = string.match(text, "^HTTP/1%.(%d) (%d%d%d)[^\r\n]*(.*)$");
  if (digits === undefined || rest === undefined || isMalformed(text)) {
    return undefined;
  }
  const headers = parseHeaders(rest);
  const connection = headers.get("connection");
  const said = connection === undefined ? "" : string.lower(table.concat(connection as unknown as string[], ","));
  const [closing] = string.find(said, "close", 1, true);
  return { status: tonumber(digits)!, headers, persistent: minor !== "0" && closing === undefined };
}

/** Status line and headers; interim answers (1xx) are passed over. */
function readHead(reader: Reader): LuaMultiReturn<[Reply | undefined, string | undefined]> {
  for (const _ of $range(1, mostInterim)) {
    const [text, problem] = readUntil(reader, "\r?\n\r?\n", mostHead);
    if (text === undefined) {
      return $multi(undefined, problem);
    }
    const reply = parseHead(text);
    if (reply === undefined) {
      return $multi(undefined, "no HTTP/1 answer");
    }
    if (reply.status >= 200 || reply.status === 101) {
      return $multi(reply, undefined);
    }
  }
  return $multi(undefined, "too many interim answers");
}

/** True when the chunked body was read to its end. */
function skipChunks(reader: Reader): boolean {
  let total = 0;
  while (true) {
    const [line] = readUntil(reader, "\r?\n", 1024);
    const [digits] = string.match(line ?? "", "^(%x+)%s*;?");
    const size = digits === undefined || digits.length > 8 ? undefined : tonumber(digits, 16);
    if (size === undefined) {
      return false;
    }
    if (size === 0) {
      // trailers are not expected: without them the end is the line break alone
      return skip(reader, 2) && reader.buffer === "";
    }
    total += size;
    if (total > mostBody || !skip(reader, size + 2)) {
      return false;
    }
  }
}

/** True when the connection stands at the end of the answer, and nothing came after it. */
function skipBody(reader: Reader, { status, headers }: Reply, method: string): boolean {
  if (method === "HEAD" || status === 204 || status === 304) {
    return reader.buffer === "";
  }
  const [coding, lengths] = [headers.get("transfer-encoding"), headers.get("content-length")];
  if (coding !== undefined) {
    const plain = lengths === undefined && coding.length() === 1 && string.lower(coding.get(1)) === "chunked";
    return plain && skipChunks(reader);
  }
  const [digits] = string.match(lengths === undefined || lengths.length() !== 1 ? "" : lengths.get(1), "^%d+$");
  const length = tonumber(digits ?? "");
  return length !== undefined && length <= mostBody && skip(reader, length) && reader.buffer === "";
}

function dial(
  socket: TcpSocket,
  { secure, host, port }: Target,
  keepalive: Keepalive | undefined,
): LuaMultiReturn<[number | undefined, string | undefined]> {
  if (keepalive === undefined) {
    return socket.connect(host, port);
  }
  // the host is the server name of TLS, too
  return socket.connect(host, port, { pool: `${secure ? "https" : "http"}:${host}:${port}`, pool_size: keepalive.connections });
}

function reuses(socket: TcpSocket): number {
  const [times] = socket.getreusedtimes();
  return times ?? 0;
}

/** An address, IPv6 in brackets. */
function isAddress(host: string): boolean {
  return string.byte(host) === 91 || parseAddress(host) !== undefined;
}

/** Another address of the same name may be better; a name that has none, or one that is slow, will not be. */
function mayRetry(host: string, problem: string | undefined): boolean {
  const [unresolved] = string.find(problem ?? "", "resolve", 1, true);
  return problem !== "timeout" && unresolved === undefined && !isAddress(host);
}

function connect(
  target: Target,
  timeouts: Timeouts,
  keepalive: Keepalive | undefined,
): LuaMultiReturn<[TcpSocket | undefined, string | undefined]> {
  const { host } = target;
  let problem: string | undefined;
  for (const _ of $range(1, mostDials)) {
    const socket = ngx.socket.tcp();
    socket.settimeouts(timeouts.connect, timeouts.send, timeouts.read);
    const [ok, failure] = dial(socket, target, keepalive);
    if (ok !== undefined) {
      return $multi(socket, undefined);
    }
    problem = failure;
    if (!mayRetry(host, failure)) {
      break;
    }
  }
  return $multi(undefined, `connect: ${problem}`);
}

/** Connected, and with TLS where it is wanted. */
function open(
  target: Target,
  timeouts: Timeouts,
  keepalive: Keepalive | undefined,
): LuaMultiReturn<[TcpSocket | undefined, string | undefined]> {
  const [socket, problem] = connect(target, timeouts, keepalive);
  if (socket === undefined || !target.secure || reuses(socket) > 0) {
    return $multi(socket, problem);
  }
  // an address is no server name (RFC 6066)
  const [shaken, failure] = socket.sslhandshake(false, isAddress(target.host) ? undefined : target.host, false);
  if (shaken === undefined) {
    return $multi(undefined, `TLS handshake: ${failure}`);
  }
  return $multi(socket, undefined);
}

function release(reader: Reader, reply: Reply, method: string, keepalive: Keepalive | undefined): void {
  const { socket } = reader;
  const keep = keepalive !== undefined && reply.persistent && reply.status !== 101 && reuses(socket) + 1 < keepalive.requests;
  if (keep && skipBody(reader, reply, method)) {
    socket.setkeepalive(keepalive.timeout, keepalive.connections);
  } else {
    socket.close();
  }
}

function sendAndRead(reader: Reader, text: string): LuaMultiReturn<[Reply | undefined, string | undefined]> {
  const [sent, problem] = reader.socket.send(text);
  if (sent === undefined) {
    return $multi(undefined, `send: ${problem}`);
  }
  return readHead(reader);
}

/** `text` is the whole request. A kept connection that the other side has closed meanwhile is replaced once. */
function exchange(
  target: Target,
  method: string,
  text: string,
  timeouts: Timeouts,
  keepalive?: Keepalive,
): LuaMultiReturn<[Reply | undefined, string | undefined]> {
  const [socket, problem] = open(target, timeouts, keepalive);
  if (socket === undefined) {
    return $multi(undefined, problem);
  }
  const reader: Reader = { socket, buffer: "" };
  const [reply, failure] = sendAndRead(reader, text);
  if (reply !== undefined) {
    release(reader, reply, method, keepalive);
    return $multi(reply, undefined);
  }
  const stale = reuses(socket) > 0 && reader.buffer === "" && failure !== "timeout";
  socket.close();
  if (stale) {
    return exchange(target, method, text, timeouts);
  }
  return $multi(undefined, failure);
}

export { exchange };
