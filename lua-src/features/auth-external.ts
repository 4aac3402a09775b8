/** auth-url and global-auth-url: another service decides. 2xx passes, 401 and 403 are the client's answer, anything else is 500. */
import { add_header } from "ngx.resp";
import { type AuthAnswer, answerOf } from "../access/auth-answer";
import { findAnswer, keepAnswer, type Validity } from "../access/auth-cache";
import { type Decision, decide, prepareDecisions } from "../access/auth-decisions";
import { type AuthService, askService, escapeTarget, prepareService } from "../access/auth-request";
import { givenHost } from "../base/given-host";
import { logError } from "../base/log";
import { expandTemplate, parseTemplate, type Template } from "../base/template";
import { flag, integer, list, number, object, oneOf, record, text } from "../configuration/check";
import type { AuthExternalDocument } from "../wire";
import type { Feature, RequestState } from "./feature";
import { fillRouteVariables, namesRouteVariables } from "./route-variables";

interface AuthExternal {
  readonly service: AuthService;
  /** One of the templates names a variable that describes the location. */
  readonly namesRoute: boolean;
  readonly responseHeaders: readonly string[];
  readonly decisions: readonly Decision[] | undefined;
  readonly signin: Template | undefined;
  /** "?rd=", or undefined when the URL has the parameter already. */
  readonly signinParameter: string | undefined;
  readonly alwaysSetCookie: boolean;
  readonly cache: { readonly key: Template; readonly scope: string; readonly valid: readonly Validity[] } | undefined;
}

const nothing: readonly string[] = [];

/** Where nginx's add_header without "always" adds. */
const cookieStatuses = new LuaTable<number, true | undefined>();
for (const status of [200, 201, 204, 206, 301, 302, 303, 304, 307, 308]) {
  cookieStatuses.set(status, true);
}

function cacheKey(cache: NonNullable<AuthExternal["cache"]>): string {
  return ngx.encode_base64(ngx.sha1_bin(`${cache.scope}\n${expandTemplate(cache.key)}`));
}

/** An answer that the service was not asked for has nothing but its status. */
function silentAnswer(status: number): AuthAnswer {
  return { status, headers: new LuaTable(), cookies: undefined, challenges: undefined };
}

/** Undefined: the service gave no answer. Waits. */
function ask(config: AuthExternal): AuthAnswer | undefined {
  const decided = config.decisions === undefined ? undefined : decide(config.decisions);
  if (decided !== undefined) {
    return silentAnswer(decided);
  }
  const cache = config.cache;
  const key = cache === undefined ? "" : cacheKey(cache);
  const known = cache === undefined ? undefined : findAnswer(key);
  if (known !== undefined) {
    return known;
  }
  const [reply, problem] = askService(config.service);
  if (reply === undefined) {
    logError("auth service does not answer", problem ?? "");
    return undefined;
  }
  const answer = answerOf(reply, config.responseHeaders);
  if (cache !== undefined) {
    keepAnswer(key, reply, answer, cache.valid);
  }
  return answer;
}

function access(config: AuthExternal, request: RequestState): LuaMultiReturn<[number?, string?]> {
  if (config.namesRoute) {
    fillRouteVariables(request.route);
  }
  const answer = ask(config);
  if (answer === undefined) {
    return $multi(500);
  }
  request.authAnswer = answer;
  const status = answer.status;
  if (status >= 200 && status < 300) {
    return $multi(200);
  }
  if (status !== 401 && status !== 403) {
    logError("auth service answers neither yes nor no", tostring(status));
    return $multi(500);
  }
  if (status === 401 && answer.challenges !== undefined) {
    // as one line, which means the same: ngx_lua keeps only the last of several
    request.challenge = table.concat(answer.challenges as string[], ", ");
  }
  return $multi(status);
}

/** Also when the service was not asked (satisfy any): a client must not set these headers itself. */
function passed(config: AuthExternal, request: RequestState): LuaMultiReturn<[number?, string?]> {
  const headers = request.authAnswer?.headers;
  for (const name of config.responseHeaders) {
    const value = headers?.get(name);
    if (value === undefined || value === "") {
      ngx.req.clear_header(name);
    } else {
      ngx.req.set_header(name, value);
    }
  }
  return $multi();
}

/** A 401, whoever gave it, becomes the way to the sign-in page. */
function refused(config: AuthExternal, request: RequestState): LuaMultiReturn<[number?, string?]> {
  if (request.refused !== 401 || config.signin === undefined) {
    return $multi();
  }
  const page = escapeTarget(expandTemplate(config.signin));
  if (config.signinParameter === undefined) {
    return $multi(302, page);
  }
  const origin = escapeTarget(`${ngx.var.get("pass_access_scheme")}://${givenHost()}`);
  return $multi(302, `${page}${config.signinParameter}${origin}${ngx.escape_uri(ngx.var.get("request_uri")!)}`);
}

function header(config: AuthExternal, request: RequestState): LuaMultiReturn<[number?, string?]> {
  const cookies = request.authAnswer?.cookies;
  if (cookies !== undefined && (config.alwaysSetCookie || cookieStatuses.get(ngx.status) !== undefined)) {
    add_header("Set-Cookie", cookies);
  }
  return $multi();
}

/** All texts of the document that may hold variables. */
function templatesOf({ url, signin, cache, requestRedirect, requestHeaders, decisions }: AuthExternalDocument): Template {
  const texts = [url, signin ?? "", cache?.key ?? "", requestRedirect ?? ""];
  for (const [, value] of pairs((requestHeaders ?? {}) as unknown as LuaTable<string, string>)) {
    texts[texts.length] = value;
  }
  for (const { when } of decisions ?? []) {
    texts[texts.length] = when === undefined ? "" : `$${when.variable}\n${when.value}`;
  }
  return parseTemplate(table.concat(texts, "\n"));
}

function prepare(document: AuthExternalDocument): AuthExternal {
  const { signin, cache, decisions } = document;
  return {
    service: prepareService(document),
    namesRoute: namesRouteVariables(templatesOf(document)),
    responseHeaders: document.responseHeaders ?? nothing,
    decisions: decisions === undefined ? undefined : prepareDecisions(decisions),
    signin: signin === undefined ? undefined : parseTemplate(signin),
    signinParameter: document.signinParameter,
    alwaysSetCookie: document.alwaysSetCookie === true,
    cache: cache === undefined ? undefined : { key: parseTemplate(cache.key), scope: cache.scope, valid: cache.valid ?? [] },
  };
}

const positive = integer(1, 2147483647);
const validity = object({ codes: list(integer(0, 599)), seconds: number });

export const authExternal: Feature<AuthExternalDocument, AuthExternal> = {
  check: object({
    url: text,
    "method?": text,
    "signin?": text,
    "signinParameter?": text,
    "responseHeaders?": list(text),
    "requestHeaders?": record(text),
    "requestRedirect?": text,
    "alwaysSetCookie?": flag,
    "cache?": object({ key: text, scope: text, "valid?": list(validity) }),
    "keepalive?": object({ connections: integer(1, 65535), requests: positive, timeout: positive }),
    "decisions?": list(
      object({
        status: integer(200, 599),
        "when?": object({ variable: text, op: oneOf("set", "=", "!=", "~", "~*", "!~", "!~*"), value: text }),
      }),
    ),
    "timeouts?": object({ "connect?": positive, "send?": positive, "read?": positive }),
  }),
  prepare: (document) => prepare(document),
  access,
  passed,
  refused,
  header,
};
