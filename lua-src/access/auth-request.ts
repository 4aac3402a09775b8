/** The request to an auth service: where it goes and what it says of the client's request. */
import { givenHost } from "../base/given-host";
import { expandTemplate, parseTemplate, type Template } from "../base/template";
import type { AuthExternalDocument, TimeoutsDocument } from "../wire";
import { clientAddress } from "./client-address";
import { exchange, type Keepalive, type Reply, type Target, type Timeouts } from "./http-client";

type Names = LuaTable<string, true | undefined>;

export interface AuthService {
  readonly url: Template;
  readonly method: string;
  /** The method was set: the service is told more (X-Original-URI, X-Scheme). */
  readonly tellsScheme: boolean;
  readonly redirect: Template | undefined;
  /** Names and values in turn, from 1. */
  readonly headers: LuaTable<number, string | Template>;
  readonly headerCount: number;
  /** Lower-case names of headers, client's or ours, that the configured ones replace. */
  readonly own: Names | undefined;
  /** Answers are kept: the service must not be asked for a part or a change only. */
  readonly cached: boolean;
  readonly keepalive: Keepalive | undefined;
  readonly timeouts: Timeouts;
}

function namesOf(text: string): Names {
  const names: Names = new LuaTable();
  for (const [name] of string.gmatch(text, "%S+")) {
    names.set(name!, true);
  }
  return names;
}

/** Client headers that are not passed on: hop by hop, about the body that is not sent, or ours to say. */
const replaced = namesOf(
  "host connection keep-alive proxy-connection transfer-encoding te trailer upgrade http2-settings expect content-length " +
    "proxy x-original-url x-original-method x-sent-from x-real-ip x-forwarded-for x-forwarded-proto x-request-id " +
    "x-auth-request-redirect ssl-client-verify ssl-client-subject-dn ssl-client-issuer-dn ssl-client-cert",
);
/** Further ones where the method is set. */
const replacedWithMethod = namesOf("x-original-uri x-scheme");
/** Further ones where answers are cached, as nginx does it. */
const conditions = namesOf("if-modified-since if-unmodified-since if-none-match if-match range if-range");

/** Milliseconds: nginx's defaults. */
const usual = 60000;

function timeoutsOf(document: TimeoutsDocument | undefined): Timeouts {
  return { connect: document?.connect ?? usual, send: document?.send ?? usual, read: document?.read ?? usual };
}

/** Parsed once per worker and route. */
function prepareService(document: AuthExternalDocument): AuthService {
  const headers = new LuaTable<number, string | Template>();
  const own: Names = new LuaTable();
  let count = 0;
  for (const [name, value] of pairs((document.requestHeaders ?? {}) as unknown as LuaTable<string, string>)) {
    headers.set(count + 1, name);
    headers.set(count + 2, parseTemplate(value));
    own.set(string.lower(name), true);
    count += 2;
  }
  const redirect = document.requestRedirect;
  return {
    url: parseTemplate(document.url),
    method: document.method ?? "GET",
    tellsScheme: document.method !== undefined,
    redirect: redirect === undefined ? undefined : parseTemplate(redirect),
    headers,
    headerCount: count,
    own: count === 0 ? undefined : own,
    cached: document.cache !== undefined,
    keepalive: document.keepalive,
    timeouts: timeoutsOf(document.timeouts),
  };
}

interface Address extends Target {
  /** Path and query. */
  readonly path: string;
}

function percent(byte: string): string {
  return string.format("%%%02X", string.byte(byte));
}

/** Variables may put anything into a URL: what would end a request line or a header is escaped. */
function escapeTarget(text: string): string {
  const [out] = string.gsub(text, "[%c ]", percent);
  return out;
}

/** undefined when scheme, host or port are of no use. */
function splitUrl(url: string): Address | undefined {
  const [scheme, authority, rest] = string.match(url, "^(%a+)://([^/?#]+)([^#]*)");
  if (scheme === undefined || authority === undefined || rest === undefined) {
    return undefined;
  }
  const secure = string.lower(scheme) === "https";
  const [name, digits] = string.match(authority, "^(.*):(%d+)$");
  const host = name ?? authority;
  const port = digits === undefined ? (secure ? 443 : 80) : tonumber(digits)!;
  const [odd] = string.find(host, "[^%w._~%-]");
  const [bracketed] = string.match(host, "^%[[%x:.]+%]$");
  const usable = (secure || string.lower(scheme) === "http") && host !== "" && (odd === undefined || bracketed !== undefined);
  if (!usable || port < 1 || port > 65535) {
    return undefined;
  }
  return { secure, host, port, path: escapeTarget(string.byte(rest, 1) === 47 ? rest : `/${rest}`) };
}

/** A value as it may stand in a header line. */
function headerValue(text: string): string {
  const [odd] = string.find(text, "[%z\r\n]");
  if (odd === undefined) {
    return text;
  }
  const [out] = string.gsub(text, "[%z\r\n]", "");
  return out;
}

interface Lines {
  readonly list: LuaTable<number, string>;
  count: number;
}

function addLine(lines: Lines, name: string, value: string | undefined): void {
  if (value !== undefined && value !== "") {
    lines.count += 1;
    lines.list.set(lines.count, `${name}: ${headerValue(value)}\r\n`);
  }
}

function isReplaced(service: AuthService, name: string): boolean {
  return (
    replaced.get(name) !== undefined ||
    (service.own !== undefined && service.own.get(name) !== undefined) ||
    (service.tellsScheme && replacedWithMethod.get(name) !== undefined) ||
    (service.cached && conditions.get(name) !== undefined)
  );
}

function addClientHeaders(lines: Lines, service: AuthService): void {
  for (const [name, value] of pairs(ngx.req.get_headers(0, true))) {
    if (isReplaced(service, string.lower(name))) {
      continue;
    }
    if (type(value) === "table") {
      for (const one of value as readonly string[]) {
        addLine(lines, name, one);
      }
    } else {
      addLine(lines, name, value as string);
    }
  }
}

function variable(name: string): string {
  return ngx.var.get(name) ?? "";
}

/** What we say of the request, unless a configured header says it. */
function say(lines: Lines, service: AuthService, name: string, value: string): void {
  if (service.own === undefined || service.own.get(string.lower(name)) === undefined) {
    addLine(lines, name, value);
  }
}

/** What the upstream is told in the same words: control/apply/request-headers.ts. */
function addOwnHeaders(lines: Lines, service: AuthService): void {
  const target = variable("request_uri");
  say(lines, service, "X-Original-URL", `${variable("scheme")}://${givenHost()}${target}`);
  say(lines, service, "X-Original-Method", ngx.req.get_method());
  say(lines, service, "X-Sent-From", "nginx-ingress-controller");
  say(lines, service, "X-Real-IP", clientAddress());
  // there is such a variable only where the upstream gets it, too
  say(lines, service, "X-Forwarded-For", ngx.var.get("full_x_forwarded_for") ?? clientAddress());
  say(lines, service, "X-Request-ID", variable("req_id"));
  say(lines, service, "X-Auth-Request-Redirect", service.redirect === undefined ? target : expandTemplate(service.redirect));
  if (service.tellsScheme) {
    say(lines, service, "X-Original-URI", target);
    say(lines, service, "X-Scheme", variable("pass_access_scheme"));
  }
  say(lines, service, "ssl-client-verify", variable("sluice_client_verify"));
  say(lines, service, "ssl-client-subject-dn", variable("sluice_client_subject"));
  say(lines, service, "ssl-client-issuer-dn", variable("sluice_client_issuer"));
  say(lines, service, "ssl-client-cert", variable("sluice_client_cert"));
}

function requestText(service: AuthService, { host, path }: Address): string {
  const lines: Lines = { list: new LuaTable(), count: 1 };
  lines.list.set(1, `${service.method} ${path} HTTP/1.1\r\n`);
  say(lines, service, "Host", host);
  if (service.keepalive === undefined) {
    addLine(lines, "Connection", "close");
  }
  addClientHeaders(lines, service);
  addOwnHeaders(lines, service);
  for (const i of $range(1, service.headerCount, 2)) {
    addLine(lines, service.headers.get(i) as string, expandTemplate(service.headers.get(i + 1) as Template));
  }
  lines.list.set(lines.count + 1, "\r\n");
  return table.concat(lines.list as unknown as string[]);
}

/** Asks the service; waits. What is said of a failure holds neither path nor query. */
function askService(service: AuthService): LuaMultiReturn<[Reply | undefined, string | undefined]> {
  const address = splitUrl(expandTemplate(service.url));
  if (address === undefined) {
    return $multi(undefined, "the URL has no usable scheme, host and port");
  }
  const text = requestText(service, address);
  const [reply, problem] = exchange(address, service.method, text, service.timeouts, service.keepalive);
  return $multi(reply, problem === undefined ? undefined : `${address.host}:${address.port}: ${problem}`);
}

export { askService, escapeTarget, prepareService, requestText, splitUrl };
