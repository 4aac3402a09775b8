/**
 * A finished request → its span as OTLP's protobuf has it; only what that needs of protobuf is here. The pieces are put
 * together once: strings made of strings made of strings would cost more than the request.
 */
import { string as bytesOf, cast, new as create } from "ffi";
import { serverPort } from "../configuration/settings";
import type { RequestState } from "../features/feature";
import type { Span } from "./context";

/** Bytes of one attribute; a delivery of 512 spans then stays below the 4 MB that collectors take. */
const longest = 1024;
const server = 2;
const serverError = 2;

const clock = create("uint64_t[1]");
const idBytes = create("uint8_t[16]");
/** Value of a hexadecimal digit by its character. */
const digits = new LuaTable<number, number>();
for (const i of $range(0, 15)) {
  digits.set(string.byte(string.format("%x", i)), i);
}

function varint(value: number): string {
  let out = "";
  let rest = value;
  while (rest >= 128) {
    out += string.char((rest % 128) + 128);
    rest = math.floor(rest / 128);
  }
  return out + string.char(rest);
}

/** As protobuf begins each field; the kind of value is 2 for bytes with their length before them, 1 for 8 bytes, 0 for a varint. */
function tag(field: number, kind: number): string {
  return varint(field * 8 + kind);
}

function field(begin: string, content: string): string {
  return begin + varint(content.length) + content;
}

const traceBegin = tag(1, 2) + varint(16);
const idBegin = tag(2, 2) + varint(8);
const parentBegin = tag(4, 2) + varint(8);
const kindAndStart = tag(6, 0) + varint(server) + tag(7, 1);
const endBegin = tag(8, 1);
const failed = field(tag(15, 2), tag(3, 0) + varint(serverError));
const spanTag = tag(2, 2);

/** What stands before a value, by the value's length. */
interface Prefixes {
  readonly make: (length: number) => string;
  readonly known: LuaTable<number, string>;
}

function textField(number: number): Prefixes {
  return { make: (length) => tag(number, 2) + varint(length), known: new LuaTable() };
}

/** KeyValue { key, AnyValue { string_value } } in field 9 of the span. */
function textAttribute(key: string): Prefixes {
  const begin = field(tag(1, 2), key) + tag(2, 2);
  return {
    make: (length) => {
      const text = tag(1, 2) + varint(length);
      const value = varint(text.length + length) + text;
      return tag(9, 2) + varint(begin.length + value.length + length) + begin + value;
    },
    known: new LuaTable(),
  };
}

/** The same with AnyValue { int_value }; the length is that of the varint. */
function numberAttribute(key: string): Prefixes {
  const begin = field(tag(1, 2), key) + tag(2, 2);
  return {
    make: (length) => {
      const value = varint(1 + length) + tag(3, 0);
      return tag(9, 2) + varint(begin.length + value.length + length) + begin + value;
    },
    known: new LuaTable(),
  };
}

const state = textField(3);
const name = textField(5);
const method = textAttribute("http.method");
const flavor = textAttribute("http.flavor");
const target = textAttribute("http.target");
const scheme = textAttribute("http.scheme");
const host = textAttribute("http.host");
const serverName = textAttribute("http.server_name");
const agent = textAttribute("http.user_agent");
const status = numberAttribute("http.status_code");
const route = textAttribute("http.route");
const port = numberAttribute("net.host.port");
const peer = textAttribute("net.peer.ip");
const peerPort = numberAttribute("net.peer.port");
const namespace = textAttribute("ingress.namespace");
const ingress = textAttribute("ingress.name");
const service = textAttribute("ingress.service_name");
const upstream = textAttribute("ingress.upstream");

/** Of the span that is being encoded, from 1; nothing here waits. */
const pieces = new LuaTable<number, string>();
let last = 0;
let size = 0;

function put(piece: string): void {
  last += 1;
  pieces.set(last, piece);
  size += piece.length;
}

function prefixOf(prefixes: Prefixes, key: number): string {
  let prefix = prefixes.known.get(key);
  if (prefix === undefined) {
    prefix = prefixes.make(key);
    prefixes.known.set(key, prefix);
  }
  return prefix;
}

/** Text of our own or of nginx. */
function putText(prefixes: Prefixes, value: string | undefined): void {
  if (value !== undefined && value !== "") {
    put(prefixOf(prefixes, value.length));
    put(value);
  }
}

function escaped(byte: string): string {
  return string.format("%%%02X", string.byte(byte));
}

const highBytes = `[${string.char(128)}-${string.char(255)}]`;

/** Collectors refuse a whole delivery for one text that is no UTF-8, and whoever sends requests chooses these. */
function putForeign(prefixes: Prefixes, value: string | undefined): void {
  if (value === undefined) {
    return;
  }
  let text = value.length > longest ? string.sub(value, 1, longest) : value;
  const [found] = ngx.re.find(text, "[^\\x00-\\x7f]", "jo");
  if (found !== undefined) {
    [text] = string.gsub(text, highBytes, escaped);
  }
  putText(prefixes, text);
}

function putNumber(prefixes: Prefixes, value: number | undefined): void {
  if (value !== undefined) {
    putText(prefixes, varint(value));
  }
}

/** `count` bytes of a hexadecimal id. */
function binary(hex: string, count: number): string {
  for (const i of $range(0, count - 1)) {
    idBytes[i] = digits.get(string.byte(hex, 2 * i + 1))! * 16 + digits.get(string.byte(hex, 2 * i + 2))!;
  }
  return bytesOf(idBytes, count);
}

/** `seconds` is exact to the millisecond. */
function nanoseconds(seconds: number): string {
  clock[0] = cast("uint64_t", math.floor(seconds * 1000 + 0.5)) * 1000000;
  return bytesOf(clock, 8);
}

function putRequest(): void {
  putText(method, ngx.req.get_method());
  putText(flavor, string.sub(ngx.var.get("server_protocol") ?? "", 6));
  putForeign(target, ngx.var.get("request_uri"));
  putText(scheme, ngx.var.get("scheme"));
  putForeign(host, ngx.var.get("http_host"));
  putForeign(serverName, ngx.var.get("host"));
  putForeign(agent, ngx.var.get("http_user_agent"));
  putNumber(status, ngx.status);
  putNumber(port, tonumber(serverPort()));
  putText(peer, ngx.var.get("remote_addr"));
  putNumber(peerPort, tonumber(ngx.var.get("remote_port")));
}

function putRoute(request: RequestState): void {
  const source = request.route.source;
  const backend = request.backend ?? request.route.backend;
  putForeign(route, source.get(5));
  putText(namespace, source.get(1));
  putText(ingress, source.get(2));
  putText(service, source.get(3));
  putText(upstream, backend?.name);
}

/** In the log phase. `called`: undefined is the route's path. */
function encodeSpan(span: Span, called: string | undefined, request: RequestState): string {
  last = 2;
  size = 0;
  put(traceBegin);
  put(binary(span.trace, 16));
  put(idBegin);
  put(binary(span.id, 8));
  if (span.parent !== undefined) {
    putForeign(state, ngx.var.get("http_tracestate"));
    put(parentBegin);
    put(binary(span.parent, 8));
  }
  putForeign(name, called ?? request.route.source.get(5));
  put(kindAndStart);
  put(nanoseconds(ngx.req.start_time()));
  put(endBegin);
  put(nanoseconds(ngx.now()));
  putRequest();
  putRoute(request);
  if (ngx.status >= 500) {
    put(failed);
  }
  pieces.set(1, spanTag);
  pieces.set(2, varint(size));
  return table.concat(pieces as unknown as string[], "", 1, last);
}

export { encodeSpan };
