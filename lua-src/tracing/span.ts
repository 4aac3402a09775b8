/** A finished request → its span as OTLP's protobuf has it. Only what that needs of protobuf is here. */
import { string as bytesOf, cast, new as create } from "ffi";
import type { RequestState } from "../features/feature";
import type { Span } from "./context";

/** Bytes of one attribute. */
const longest = 4096;
const server = 2;
const serverError = 2;

const byHex = new LuaTable<string, string>();
for (const i of $range(0, 255)) {
  byHex.set(string.format("%02x", i), string.char(i));
}
const highBytes = `[${string.char(128)}-${string.char(255)}]`;
const clock = create("uint64_t[1]");

function varint(value: number): string {
  let out = "";
  let rest = value;
  while (rest >= 128) {
    out += string.char((rest % 128) + 128);
    rest = math.floor(rest / 128);
  }
  return out + string.char(rest);
}

/** Number of the field and kind of value, as protobuf begins each: 2 is bytes with their length before them, 1 is 8 bytes, 0 a varint. */
function tag(field: number, kind: number): string {
  return varint(field * 8 + kind);
}

const tags = {
  traceId: tag(1, 2),
  spanId: tag(2, 2),
  state: tag(3, 2),
  parent: tag(4, 2),
  name: tag(5, 2),
  kind: tag(6, 0) + varint(server),
  start: tag(7, 1),
  end: tag(8, 1),
  attribute: tag(9, 2),
  key: tag(1, 2),
  value: tag(2, 2),
  text: tag(1, 2),
  integer: tag(3, 0),
  failed: tag(15, 2) + varint(2) + tag(3, 0) + varint(serverError),
  span: tag(2, 2),
};

function field(begin: string, content: string): string {
  return begin + varint(content.length) + content;
}

function binary(hex: string): string {
  const [out] = string.gsub(hex, "..", byHex as unknown as Record<string, string>);
  return out;
}

/** Collectors refuse a whole delivery for one text that is no UTF-8, and whoever sends requests chooses these. */
function safe(text: string): string {
  const cut = text.length > longest ? string.sub(text, 1, longest) : text;
  const [found] = string.find(cut, highBytes);
  if (found === undefined) {
    return cut;
  }
  const [out] = string.gsub(cut, highBytes, (byte: string) => string.format("%%%02X", string.byte(byte)));
  return out;
}

/** `seconds` is exact to the millisecond. */
function nanoseconds(seconds: number): string {
  clock[0] = cast("uint64_t", math.floor(seconds * 1000 + 0.5)) * 1000000;
  return bytesOf(clock, 8);
}

/** Key as it begins the attribute. */
function keyOf(name: string): string {
  return field(tags.key, name) + tags.value;
}

const keys = {
  method: keyOf("http.method"),
  flavor: keyOf("http.flavor"),
  target: keyOf("http.target"),
  scheme: keyOf("http.scheme"),
  host: keyOf("http.host"),
  serverName: keyOf("http.server_name"),
  agent: keyOf("http.user_agent"),
  status: keyOf("http.status_code"),
  route: keyOf("http.route"),
  port: keyOf("net.host.port"),
  peer: keyOf("net.peer.ip"),
  peerPort: keyOf("net.peer.port"),
  namespace: keyOf("ingress.namespace"),
  ingress: keyOf("ingress.name"),
  service: keyOf("ingress.service_name"),
  upstream: keyOf("ingress.upstream"),
};

function textAttribute(key: string, value: string | undefined): string {
  if (value === undefined || value === "") {
    return "";
  }
  return field(tags.attribute, key + field("", field(tags.text, safe(value))));
}

function numberAttribute(key: string, value: number | undefined): string {
  return value === undefined ? "" : field(tags.attribute, key + field("", tags.integer + varint(value)));
}

function attributes({ route, backend }: RequestState): string {
  const source = route.source;
  const upstream = backend ?? route.backend;
  return (
    textAttribute(keys.method, ngx.req.get_method()) +
    textAttribute(keys.flavor, string.sub(ngx.var.get("server_protocol") ?? "", 6)) +
    textAttribute(keys.target, ngx.var.get("request_uri")) +
    textAttribute(keys.scheme, ngx.var.get("scheme")) +
    textAttribute(keys.host, ngx.var.get("http_host")) +
    textAttribute(keys.serverName, ngx.var.get("host")) +
    textAttribute(keys.agent, ngx.var.get("http_user_agent")) +
    textAttribute(keys.route, source.get(5)) +
    numberAttribute(keys.status, ngx.status) +
    numberAttribute(keys.port, tonumber(ngx.var.get("server_port"))) +
    textAttribute(keys.peer, ngx.var.get("remote_addr")) +
    numberAttribute(keys.peerPort, tonumber(ngx.var.get("remote_port"))) +
    textAttribute(keys.namespace, source.get(1)) +
    textAttribute(keys.ingress, source.get(2)) +
    textAttribute(keys.service, source.get(3)) +
    textAttribute(keys.upstream, upstream?.name)
  );
}

/** In the log phase. `name`: undefined is the route's path. */
function encodeSpan(span: Span, name: string | undefined, request: RequestState): string {
  const state = span.parent === undefined ? undefined : ngx.var.get("http_tracestate");
  const content =
    field(tags.traceId, binary(span.trace)) +
    field(tags.spanId, binary(span.id)) +
    (state === undefined ? "" : field(tags.state, safe(state))) +
    (span.parent === undefined ? "" : field(tags.parent, binary(span.parent))) +
    field(tags.name, safe(name ?? request.route.source.get(5) ?? "/")) +
    tags.kind +
    tags.start +
    nanoseconds(ngx.req.start_time()) +
    tags.end +
    nanoseconds(ngx.now()) +
    attributes(request) +
    (ngx.status >= 500 ? tags.failed : "");
  return field(tags.span, content);
}

export { encodeSpan };
