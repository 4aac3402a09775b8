/** Annotations: external authentication, and the ConfigMap's for all Ingresses. What cannot be honoured denies. */

import { createHash } from "node:crypto";
import type { AuthExternalDocument } from "../../lua-src/wire.ts";
import { type Denied, feature, type Place, row, type Values } from "../catalog/feature.ts";
import { bool, int, listOf, oneOf, ref, snippet, url, urlWithVariables, variableText } from "../catalog/kinds.ts";
import {
  authMethods,
  authUrlProblem,
  type CacheValidity,
  cacheDurations,
  carriedHeader,
  defaultDurations,
  requestHeader,
} from "./auth-kinds.ts";
import { parseAuthSnippet } from "./auth-snippet.ts";
import { isExempt } from "./no-auth.ts";

const needs = ["auth-url"] as const;

const rows = {
  "auth-url": row({
    kind: urlWithVariables,
    default: undefined,
    risk: "high",
    onInvalid: "reject",
    guards: true,
    doc: "External authentication: before each request this URL is asked by GET (or auth-method), without the body; 2xx lets the request pass, 401 and 403 go to the client, anything else is 500. May hold nginx variables and $escaped_request_uri, though not in scheme and port.",
  }),
  "auth-method": row({
    kind: oneOf(authMethods),
    default: undefined,
    risk: "low",
    onInvalid: "deny",
    needs,
    doc: "HTTP method of the auth request; when set also sends X-Original-URI and X-Scheme.",
  }),
  "auth-signin": row({
    kind: urlWithVariables,
    default: undefined,
    risk: "high",
    onInvalid: "default",
    doc: "A 401 becomes a 302 to this URL with parameter auth-signin-redirect-param = scheme://http_host + escaped request URI, appended with ? when the URL has no query, with & otherwise, not appended when the parameter is already in it.",
  }),
  "auth-signin-redirect-param": row({
    kind: url,
    default: "rd",
    risk: "medium",
    onInvalid: "default",
    doc: "Query parameter name for the return URL in auth-signin.",
  }),
  "auth-response-headers": row({
    kind: listOf(carriedHeader),
    default: [] as readonly string[],
    risk: "medium",
    onInvalid: "deny",
    needs,
    doc: "Headers copied from the auth response into the request to the upstream (a header that is absent there is removed). Not those that frame a message (Content-Length, Connection …) nor Host.",
  }),
  "auth-proxy-set-headers": row({
    kind: ref,
    default: undefined,
    risk: "medium",
    onInvalid: "deny",
    needs,
    doc: "namespace/name of a ConfigMap whose entries become request headers to the auth service; values may hold nginx variables. Another namespace needs allow-cross-namespace-resources.",
  }),
  "auth-request-redirect": row({
    kind: url,
    default: undefined,
    risk: "medium",
    onInvalid: "deny",
    needs,
    doc: "Value of X-Auth-Request-Redirect sent to the auth service, in place of the request URI.",
  }),
  "auth-always-set-cookie": row({
    kind: bool,
    default: false,
    risk: "low",
    onInvalid: "deny",
    needs,
    doc: "Hand on Set-Cookie of the auth response with every status (otherwise with 200 201 204 206 301 302 303 304 307 308).",
  }),
  "auth-cache-key": row({
    kind: variableText,
    default: undefined,
    risk: "medium",
    onInvalid: "default",
    doc: "Auth responses are kept and used again for requests with the same key of the same host and path.",
  }),
  "auth-cache-duration": row({
    kind: cacheDurations,
    default: undefined,
    risk: "medium",
    onInvalid: "deny",
    needs,
    doc: "How long auth responses are kept, by status, where they do not say so themselves (Cache-Control …); used with auth-cache-key. Default 200 202 401 5m.",
  }),
  "auth-keepalive": row({
    kind: int(-(2 ** 31)),
    default: 0,
    risk: "low",
    onInvalid: "default",
    doc: "Idle connections to the auth service that each worker keeps; 0 or less: none. Not with variables in the host of auth-url.",
  }),
  "auth-keepalive-requests": row({
    kind: int(-(2 ** 31)),
    default: 1000,
    risk: "low",
    onInvalid: "default",
    doc: "Most requests on a kept connection; 0 or less turns auth-keepalive off.",
  }),
  "auth-keepalive-timeout": row({
    kind: int(-(2 ** 31)),
    default: 60,
    risk: "low",
    onInvalid: "default",
    doc: "Seconds that a kept connection may be idle; 0 or less turns auth-keepalive off.",
  }),
  "auth-keepalive-share-vars": row({
    kind: bool,
    default: false,
    risk: "low",
    onInvalid: "default",
    doc: "Accepted; the auth request always sees the variables of the request, and changes none.",
  }),
  "enable-global-auth": row({
    kind: bool,
    default: true,
    risk: "low",
    onInvalid: "default",
    doc: "false: global-auth-url does not count for this Ingress.",
  }),
  "auth-snippet": row({
    kind: snippet,
    default: undefined,
    risk: "critical",
    onInvalid: "default",
    support: "partial",
    note: "The auth request is not made by an nginx location: proxy_set_header, proxy_connect_timeout, proxy_send_timeout, proxy_read_timeout, return and `if (…) { return …; }` are honoured, with any other directive the locations answer 503.",
    doc: "Directives for the auth request.",
  }),
} as const;

type AuthValues = Values<typeof rows>;

type Part = Partial<AuthExternalDocument>;

/** Answers are for one host and location, and for the settings that they were asked with. */
function withCache(
  document: AuthExternalDocument,
  key: string | undefined,
  valid: readonly CacheValidity[],
  place: Place,
): AuthExternalDocument {
  if (key === undefined || key === "") return document;
  const scope = createHash("sha256")
    .update(JSON.stringify([place.host, place.exact, place.path, document]))
    .digest("base64url");
  return { ...document, cache: { key, scope, ...(valid.length === 0 ? {} : { valid }) } };
}

/** How the client's URL joins the sign-in page's; nothing where the page's URL has the parameter. */
export function signinOf(page: string | undefined, parameter: string): Pick<AuthExternalDocument, "signin" | "signinParameter"> {
  const signin = page?.replaceAll(" ", "") ?? "";
  if (signin === "") return {};
  const start = signin.indexOf("?");
  const query = start < 0 ? "" : signin.slice(start + 1);
  const name = parameter === "" ? "rd" : parameter.replaceAll(" ", "");
  if ((new URLSearchParams(query).get(name) ?? "") !== "") return { signin };
  return { signin, signinParameter: `${query !== "" ? "&" : start < 0 ? "?" : ""}${name}=` };
}

function keepaliveOf(v: AuthValues): Part {
  const host = /^\w+:\/\/([^/?]*)/.exec(v["auth-url"] ?? "")?.[1] ?? "";
  const [connections, requests, seconds] = [v["auth-keepalive"], v["auth-keepalive-requests"], v["auth-keepalive-timeout"]];
  if (connections <= 0 || requests <= 0 || seconds <= 0 || host.includes("$")) return {};
  return { keepalive: { connections: Math.min(connections, 65535), requests, timeout: Math.min(seconds, 2_000_000) * 1000 } };
}

function snippetPart(text: string | undefined, more: Readonly<Record<string, string>> = {}): Part {
  const snippet = parseAuthSnippet(text ?? "");
  if (typeof snippet === "string") throw new Error(`an auth-snippet got past deny: ${snippet}`);
  const requestHeaders = { ...more, ...snippet.headers };
  return {
    ...(Object.keys(requestHeaders).length === 0 ? {} : { requestHeaders }),
    ...(Object.keys(snippet.timeouts).length === 0 ? {} : { timeouts: snippet.timeouts }),
    ...(snippet.decisions.length === 0 ? {} : { decisions: snippet.decisions }),
  };
}

/** Without allow-snippet-annotations the rest of the Ingress counts. */
function ownSnippet(v: AuthValues, place: Place): string | undefined {
  return place.settings["allow-snippet-annotations"] ? v["auth-snippet"] : undefined;
}

function headersOf(v: AuthValues, place: Place): Readonly<Record<string, string>> {
  const named = v["auth-proxy-set-headers"];
  return named?.namespace === undefined ? {} : (place.look.configMap(named.namespace, named.name)?.data ?? {});
}

function ownDocument(v: AuthValues, place: Place): AuthExternalDocument {
  const document: AuthExternalDocument = {
    url: (v["auth-url"] ?? "").replaceAll(" ", ""),
    ...(v["auth-method"] === undefined ? {} : { method: v["auth-method"] }),
    ...signinOf(v["auth-signin"], v["auth-signin-redirect-param"]),
    ...(v["auth-response-headers"].length === 0 ? {} : { responseHeaders: v["auth-response-headers"] }),
    ...(v["auth-request-redirect"] === undefined ? {} : { requestRedirect: v["auth-request-redirect"].replaceAll(" ", "") }),
    ...(v["auth-always-set-cookie"] ? { alwaysSetCookie: true } : {}),
    ...snippetPart(ownSnippet(v, place), headersOf(v, place)),
    ...keepaliveOf(v),
  };
  return withCache(document, v["auth-cache-key"], v["auth-cache-duration"] ?? defaultDurations, place);
}

function globalDocument(url: string, place: Place): AuthExternalDocument {
  const s = place.settings;
  const document: AuthExternalDocument = {
    url,
    ...(s["global-auth-method"] === undefined ? {} : { method: s["global-auth-method"] }),
    ...signinOf(s["global-auth-signin"], s["global-auth-signin-redirect-param"] ?? ""),
    ...(s["global-auth-response-headers"].length === 0 ? {} : { responseHeaders: s["global-auth-response-headers"] }),
    ...(s["global-auth-request-redirect"] === undefined ? {} : { requestRedirect: s["global-auth-request-redirect"] }),
    ...(s["global-auth-always-set-cookie"] ? { alwaysSetCookie: true } : {}),
    ...snippetPart(s["global-auth-snippet"]),
  };
  return withCache(document, s["global-auth-cache-key"], s["global-auth-cache-duration"] ?? [], place);
}

function refusal(annotation: string, reason: string, code: Denied["code"] = "location-denied"): Denied {
  return { annotation, code, reason };
}

/** The ConfigMap that auth-proxy-set-headers names, and what it holds. */
function headersProblem(v: AuthValues, place: Place): Denied | undefined {
  const annotation = "auth-proxy-set-headers";
  const named = v[annotation];
  if (named === undefined) return undefined;
  const { namespace, name } = named;
  if (namespace === undefined) return refusal(annotation, "it must be written as namespace/name");
  if (namespace !== place.ingress.metadata.namespace && !place.settings["allow-cross-namespace-resources"]) {
    return refusal(annotation, `namespace ${namespace} is another one; that needs allow-cross-namespace-resources`);
  }
  const found = place.look.configMap(namespace, name);
  if (found === undefined) return refusal(annotation, `there is no ConfigMap ${namespace}/${name}`, "reference-missing");
  const bad = Object.keys(found.data).find((header) => !requestHeader.parse(header).ok);
  return bad === undefined ? undefined : refusal(annotation, `"${bad}" is not the name of a header that can be set`);
}

function snippetProblem(annotation: string, text: string | undefined): Denied | undefined {
  const problem = parseAuthSnippet(text ?? "");
  return typeof problem === "string" ? refusal(annotation, problem) : undefined;
}

function ownProblem(v: AuthValues, place: Place): Denied | undefined {
  const problem = authUrlProblem(v["auth-url"] ?? "");
  if (problem !== undefined) return refusal("auth-url", problem);
  return headersProblem(v, place) ?? snippetProblem("auth-snippet", ownSnippet(v, place));
}

export const authExternal = feature({
  name: "auth-external",
  rows,
  deny(v, place) {
    if (v["auth-url"] !== undefined) return ownProblem(v, place);
    const url = place.settings["global-auth-url"];
    if (url === undefined || !v["enable-global-auth"] || isExempt(place)) return undefined;
    if (url === "") return refusal("global-auth-url", "the ConfigMap's value is not a URL");
    return snippetProblem("global-auth-snippet", place.settings["global-auth-snippet"]);
  },
  build(v, place) {
    if (isExempt(place)) return undefined;
    if (v["auth-url"] !== undefined) return { authExternal: ownDocument(v, place) };
    const url = place.settings["global-auth-url"];
    return url === undefined || !v["enable-global-auth"] ? undefined : { authExternal: globalDocument(url, place) };
  },
});
