import { describe, expect, test } from "vitest";
import type { Feature, Place } from "../../../control/catalog/feature.ts";
import { catalogueOf, resolveAnnotations } from "../../../control/catalog/resolve.ts";
import { resolveSettings } from "../../../control/catalog/settings.ts";
import { authExternal, signinOf } from "../../../control/features/auth-external.ts";
import {
  authUrlProblem,
  cacheDurations,
  carriedHeader,
  carriedHeaders,
  defaultDurations,
  serviceUrl,
} from "../../../control/features/auth-kinds.ts";
import { parseAuthSnippet } from "../../../control/features/auth-snippet.ts";
import type { ConfigMap, Ingress } from "../../../control/source/kinds.ts";

const prefix = "nginx.ingress.kubernetes.io";
const options = { prefix, validate: true };
const catalogue = catalogueOf([authExternal as unknown as Feature]);

interface Draft {
  readonly annotations: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, string>>;
  readonly configMaps?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly path?: string;
}

/** What becomes of an Ingress "default/web" with these annotations. */
function outcome(draft: Draft) {
  const annotations = Object.fromEntries(Object.entries(draft.annotations).map(([name, text]) => [`${prefix}/${name}`, text]));
  const ingress = { metadata: { namespace: "default", name: "web", annotations } } as unknown as Ingress;
  const settings = resolveSettings(draft.settings ?? {}, { kind: "ConfigMap", namespace: "default", name: "settings" });
  const resolved = resolveAnnotations(ingress, settings.values, catalogue, options);
  const configMap = (namespace: string, name: string) => {
    const data = draft.configMaps?.[`${namespace}/${name}`];
    return data === undefined ? undefined : ({ data } as unknown as ConfigMap);
  };
  const place = { ingress, host: "app.test", path: draft.path ?? "/", exact: false, settings: settings.values, look: { configMap } };
  const denied = resolved.denied ?? authExternal.deny?.(resolved.values as never, place as unknown as Place);
  if (resolved.rejected !== undefined) return { rejected: resolved.rejected };
  if (denied !== undefined) return { denied: denied.annotation };
  return authExternal.build?.(resolved.values as never, place as unknown as Place)?.authExternal;
}

const braced = "$" + "{host}";
const url = "http://auth.test/check";
const own = { "auth-url": url };

describe("auth-url", () => {
  test.each([
    ["http://auth.test", undefined],
    ["https://10.0.0.1:8443/x?y=$request_uri", undefined],
    ["http://$host/oauth2/auth", undefined],
    ["HTTP://[fd00::1]:81/", undefined],
    ["http://a..b/", "names no host"],
    ["http:///x", "names no host"],
    ["http://:80/x", "names no host"],
    ["//auth.test/x", "does not start"],
    ["$scheme://auth.test/", "does not start"],
    ["ftp://auth.test/", "does not start"],
    ["http://auth.test:$server_port/", "no usable port"],
    ["http://auth.test:99999/", "no usable port"],
    ["http://me@auth.test/", "user name"],
  ])("%s", (text, problem) => {
    const found = authUrlProblem(text);
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(problem);
  });

  test("characters that no URL of ours has refuse the Ingress; a URL of the wrong form denies its locations", () => {
    expect(outcome({ annotations: { "auth-url": "http://auth.test/;evil" } })).toHaveProperty("rejected");
    expect(outcome({ annotations: { "auth-url": "auth.test/check" } })).toEqual({ denied: "auth-url" });
  });

  test.each([
    ["auth-method", "FETCH"],
    ["auth-request-redirect", "/a b$c"],
    ["auth-always-set-cookie", "perhaps"],
    ["auth-cache-duration", "200 forever"],
    ["auth-response-headers", "X User"],
    ["auth-response-headers", "Content-Length"],
    ["auth-proxy-set-headers", "a/b/c"],
  ])("%s %j denies with auth-url, and nothing without it", (name, text) => {
    expect(outcome({ annotations: { ...own, [name]: text } })).toEqual({ denied: name });
    expect(outcome({ annotations: { [name]: text } })).toBeUndefined();
  });

  test.each([
    ["auth-signin", "https://x.test/<y>"],
    ["auth-signin-redirect-param", "#"],
    ["auth-cache-key", "a b"],
    ["auth-keepalive", "many"],
  ])("%s %j is ignored", (name, text) => {
    expect(outcome({ annotations: { ...own, [name]: text } })).toEqual({ url });
  });
});

describe("the document", () => {
  test("holds what differs from the plain case only", () => {
    expect(outcome({ annotations: own })).toEqual({ url });
    expect(
      outcome({
        annotations: {
          ...own,
          "auth-method": "POST",
          "auth-signin": "https://login.test/",
          "auth-response-headers": "X-User, X-Groups",
          "auth-request-redirect": "/back",
          "auth-always-set-cookie": "true",
          "auth-keepalive": "5",
        },
      }),
    ).toEqual({
      url,
      method: "POST",
      signin: "https://login.test/",
      signinParameter: "?rd=",
      responseHeaders: ["X-User", "X-Groups"],
      requestRedirect: "/back",
      alwaysSetCookie: true,
      keepalive: { connections: 5, requests: 1000, timeout: 60_000 },
    });
  });

  test("keep-alive is off where a number says so, and for hosts made of variables", () => {
    const on = { ...own, "auth-keepalive": "5" };
    expect(outcome({ annotations: { ...on, "auth-keepalive-requests": "0" } })).toEqual({ url });
    expect(outcome({ annotations: { ...on, "auth-keepalive-timeout": "-1" } })).toEqual({ url });
    expect(outcome({ annotations: { ...on, "auth-url": "http://$host/x" } })).toEqual({ url: "http://$host/x" });
  });

  test("answers are kept apart by host, path and all that makes the request", () => {
    const scopes = [
      outcome({ annotations: { ...own, "auth-cache-key": "k" } }),
      outcome({ annotations: { ...own, "auth-cache-key": "k" }, path: "/other" }),
      outcome({ annotations: { "auth-url": "http://auth.test/other", "auth-cache-key": "k" } }),
      outcome({ annotations: { ...own, "auth-method": "HEAD", "auth-cache-key": "k" } }),
    ].map((document) => (document as { cache: { scope: string } }).cache.scope);
    expect(new Set(scopes).size).toBe(4);
    expect(outcome({ annotations: { ...own, "auth-cache-key": "$cookie_sid" } })).toMatchObject({
      cache: { key: "$cookie_sid", valid: defaultDurations },
    });
  });

  test("paths of no-auth-locations need nothing", () => {
    const path = "/.well-known/acme-challenge/x";
    expect(outcome({ annotations: own, path })).toBeUndefined();
    expect(outcome({ annotations: {}, settings: { "global-auth-url": "nonsense" }, path })).toBeUndefined();
  });
});

describe("auth-proxy-set-headers", () => {
  const annotations = { ...own, "auth-proxy-set-headers": "default/headers" };

  test("the entries of the ConfigMap are sent", () => {
    expect(outcome({ annotations, configMaps: { "default/headers": { "X-A": "$host" } } })).toEqual({
      url,
      requestHeaders: { "X-A": "$host" },
    });
  });

  test("what cannot be found, or not be sent, denies", () => {
    expect(outcome({ annotations })).toEqual({ denied: "auth-proxy-set-headers" });
    expect(outcome({ annotations: { ...own, "auth-proxy-set-headers": "headers" } })).toEqual({ denied: "auth-proxy-set-headers" });
    for (const name of ["X A", "X\nA", "Content-Length", "Transfer-Encoding"]) {
      expect(outcome({ annotations, configMaps: { "default/headers": { [name]: "x" } } })).toEqual({ denied: "auth-proxy-set-headers" });
    }
  });

  test("another namespace needs allow-cross-namespace-resources", () => {
    const draft = { annotations: { ...own, "auth-proxy-set-headers": "other/headers" }, configMaps: { "other/headers": { "X-A": "1" } } };
    expect(outcome(draft)).toEqual({ denied: "auth-proxy-set-headers" });
    expect(outcome({ ...draft, settings: { "allow-cross-namespace-resources": "true" } })).toEqual({ url, requestHeaders: { "X-A": "1" } });
  });
});

describe("global-auth-url", () => {
  const settings = { "global-auth-url": "http://global.test/%2F", "global-auth-method": "HEAD", "global-auth-cache-key": "k" };

  test("counts for Ingresses without an auth-url of their own that do not opt out", () => {
    expect(outcome({ annotations: {}, settings })).toMatchObject({ url: "http://global.test/%2F", method: "HEAD", cache: { key: "k" } });
    expect(outcome({ annotations: own, settings })).toEqual({ url });
    expect(outcome({ annotations: { "enable-global-auth": "false" }, settings })).toBeUndefined();
    expect(outcome({ annotations: { "enable-global-auth": "nope" }, settings })).toMatchObject({ method: "HEAD" });
    expect(outcome({ annotations: { "auth-signin": "https://mine.test/" }, settings })).not.toHaveProperty("signin");
  });

  test("answers have no configured time unless the key is there", () => {
    const cacheOf = (more: object) => outcome({ annotations: {}, settings: { ...settings, ...more } });
    expect(cacheOf({})).not.toHaveProperty("cache.valid");
    expect(cacheOf({ "global-auth-cache-duration": "" })).toHaveProperty("cache.valid", defaultDurations);
    expect(cacheOf({ "global-auth-cache-duration": "200 forever" })).toHaveProperty("cache.valid", defaultDurations);
    expect(cacheOf({ "global-auth-cache-duration": "200 1m" })).toHaveProperty("cache.valid", [{ codes: [200], seconds: 60 }]);
  });

  test("a text that is no URL closes; an empty one is none", () => {
    expect(outcome({ annotations: {}, settings: { "global-auth-url": "auth.test" } })).toEqual({ denied: "global-auth-url" });
    expect(outcome({ annotations: { "enable-global-auth": "false" }, settings: { "global-auth-url": "auth.test" } })).toBeUndefined();
    expect(outcome({ annotations: own, settings: { "global-auth-url": "auth.test" } })).toEqual({ url });
    expect(outcome({ annotations: {}, settings: { "global-auth-url": " " } })).toBeUndefined();
  });
});

describe("snippets", () => {
  test.each([
    ["", {}, {}],
    ["# nothing\n", {}, {}],
    ["proxy_set_header X-A 42;", { "X-A": "42" }, {}],
    [`proxy_set_header X-A "a; \\"b\\" ${braced}"; proxy_set_header X-B $http_x;`, { "X-A": `a; "b" ${braced}`, "X-B": "$http_x" }, {}],
    ["proxy_set_header X-A '';\nproxy_read_timeout 5;proxy_connect_timeout 200ms;", { "X-A": "" }, { read: 5000, connect: 200 }],
    [`proxy_set_header X-A ${braced}x;`, { "X-A": `${braced}x` }, {}],
  ])("%j", (text, headers, timeouts) => {
    expect(parseAuthSnippet(text)).toEqual({ headers, timeouts, decisions: [] });
  });

  test.each([
    ["return 200;", [{ status: 200 }]],
    ['return 401 "who?";', [{ status: 401 }]],
    ["if ($request_method = OPTIONS) { return 200; }", [{ status: 200, when: { variable: "request_method", op: "=", value: "OPTIONS" } }]],
    ["if ( $http_x ) { return 204; }", [{ status: 204, when: { variable: "http_x", op: "set", value: "" } }]],
    ['if ($http_x != "a b") { return 403; }', [{ status: 403, when: { variable: "http_x", op: "!=", value: "a b" } }]],
    ['if ($http_x = "") { return 403; }', [{ status: 403, when: { variable: "http_x", op: "=", value: "" } }]],
    [
      "if ($Request_uri ~* ^/a/\\.b(c)) { return 200; }",
      [{ status: 200, when: { variable: "request_uri", op: "~*", value: "^/a/\\.b(c)" } }],
    ],
    [
      "if ($host !~ '^a;b') { return 200; } return 403;",
      [{ status: 200, when: { variable: "host", op: "!~", value: "^a;b" } }, { status: 403 }],
    ],
  ])("%j decides", (text, decisions) => {
    expect(parseAuthSnippet(text)).toEqual({ headers: {}, timeouts: {}, decisions });
  });

  test.each([
    "proxy_set_header X-A 42",
    "proxy_set_header X-A;",
    "proxy_set_header Content-Length 5;",
    "if ($request_method = OPTIONS) { return 200; set $a b; }",
    "if ($request_method = OPTIONS) { }",
    "if ($request_method OPTIONS) { return 200; }",
    "if (-f /etc/passwd) { return 200; }",
    "if ($uri = /a) { return 200; }",
    "if ($arg_token = x) { return 200; }",
    "if ($host = $args) { return 200; }",
    "if ($nobody != 1) { return 200; }",
    "if ($host ~ a() { return 200; }",
    "if $host { return 200; }",
    "return 200 a b;",
    "return https://a.test;",
    "return 444;",
    "location /a { return 200; }",
    'proxy_set_header X-A "b;',
    "proxy_read_timeout soon;",
    "set $a b;",
    "}",
  ])("%j cannot be honoured", (text) => {
    expect(parseAuthSnippet(text)).toEqual(expect.any(String));
  });

  const annotations = { ...own, "auth-snippet": "proxy_set_header X-A 42;" };
  const allowed = { "annotations-risk-level": "Critical", "allow-snippet-annotations": "true" };

  test("need the risk level, and count only where allowed", () => {
    expect(outcome({ annotations })).toHaveProperty("rejected");
    expect(outcome({ annotations, settings: { "annotations-risk-level": "Critical" } })).toEqual({ url });
    expect(outcome({ annotations, settings: allowed })).toEqual({ url, requestHeaders: { "X-A": "42" } });
  });

  test("what cannot be honoured denies", () => {
    expect(outcome({ annotations: { ...own, "auth-snippet": "auth_basic x;" }, settings: allowed })).toEqual({ denied: "auth-snippet" });
    const global = { "global-auth-url": url, "global-auth-snippet": "rewrite ^ /a;" };
    expect(outcome({ annotations: {}, settings: global })).toEqual({ denied: "global-auth-snippet" });
    expect(outcome({ annotations: {}, settings: { ...global, "global-auth-snippet": "proxy_set_header X-A 42;" } })).toEqual({
      url,
      requestHeaders: { "X-A": "42" },
    });
  });
});

test.each([
  ["https://login.test/start", "rd", "?rd="],
  ["https://login.test/start?", "rd", "rd="],
  ["https://login.test/start?tenant=x", "rd", "&rd="],
  ["https://login.test/start?rd=$escaped_request_uri", "rd", undefined],
  ["https://login.test/start?rd=", "rd", "&rd="],
  ["https://login.test/start?rd=x", "orig", "&orig="],
  ["https://login.test/start", "", "?rd="],
])("sign-in page %s, parameter %j: %j", (page, parameter, joint) => {
  expect(signinOf(page, parameter)).toEqual(joint === undefined ? { signin: page } : { signin: page, signinParameter: joint });
});

test.each([
  ["200 202 401 5m", [{ codes: [200, 202, 401], seconds: 300 }]],
  [
    "200 1h30m, any 10s",
    [
      { codes: [200], seconds: 5400 },
      { codes: [0], seconds: 10 },
    ],
  ],
  ["5m", [{ codes: [200, 301, 302], seconds: 300 }]],
  ["200 500ms", [{ codes: [200], seconds: 0.5 }]],
  [" , ", defaultDurations],
  ["200 5m foo", undefined],
  ["5m 200", undefined],
  ["200 5m 10m", undefined],
  ["999 5m", undefined],
  ["200", undefined],
])("cache duration %j", (text, wanted) => {
  const parsed = cacheDurations.parse(text);
  expect(parsed.ok ? parsed.value : undefined).toEqual(wanted);
});

test("headers that frame a message are not handed on", () => {
  for (const name of ["content-length", "Transfer-Encoding", "Host", "connection", "X Y", ""])
    expect(carriedHeader.parse(name).ok).toBe(false);
  expect(carriedHeaders.parse("X-User, a b, Content-Length, X_Groups")).toEqual({ ok: true, value: ["X-User", "X_Groups"] });
});

test("URLs of the ConfigMap may hold what annotations must not, but no white space", () => {
  expect(serviceUrl.parse(" http://auth.test/a%20b#c{d} ").ok).toBe(true);
  for (const text of ["", "http://auth.test/a b", "http://auth.test/\u0001", 'http://auth.test/"', "auth.test"]) {
    expect(serviceUrl.parse(text).ok).toBe(false);
  }
});
