import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { HostDocument } from "../../lua-src/wire.ts";
import {
  backendDocument,
  byName,
  DataPlane,
  type Echo,
  generalDocument,
  hostDocument,
  type Reply,
  routeDocument,
  startUpstream,
  type Upstream,
} from "../kit/data-plane.ts";

let plane: DataPlane;
let a: Upstream;
let b: Upstream;

const profiles = [
  { id: "p1", family: "http" as const, directives: [{ name: "client_max_body_size", args: ["10"] }] },
  { id: "p2", family: "http" as const, directives: [{ name: "error_page", args: [503, 404, "/~oops"] }] },
];
const oops = {
  name: "/~oops",
  family: "http" as const,
  directives: [{ name: "return", args: [200, "oops"] }],
  passTo: "http://127.0.0.1:1",
};

function echo(reply: Reply): Echo {
  expect(reply.status, reply.body).toBe(200);
  return JSON.parse(reply.body) as Echo;
}

function put(...hosts: HostDocument[]): Promise<Reply> {
  return plane.apply({ hosts: byName(...hosts) });
}

function steer(answer: object): { headers: Record<string, string> } {
  return { headers: { "x-answer": JSON.stringify(answer) } };
}

beforeAll(async () => {
  a = await startUpstream("a");
  b = await startUpstream("b");
  plane = await DataPlane.start((view) => ({ ...view, profiles, internal: [oops] }));
  await plane.apply({ backends: byName(backendDocument("a", [a]), backendDocument("b", [b]), backendDocument("empty", [])) });
});

beforeEach(async () => {
  await plane.configuration("POST", "/configuration/routes", "[]");
  await plane.apply({ general: generalDocument });
});

afterAll(async () => {
  await plane?.stop();
  await Promise.all([a?.close(), b?.close()]);
});

test("a request reaches the backend of its host, URI and query untouched", async () => {
  await put(hostDocument("app.test", [routeDocument("/", "a")]));
  const seen = echo(await plane.get("app.test:8080", "/x%2Fy//z%20/./k?q=1&r=%20"));
  expect(seen).toMatchObject({ name: "a", uri: "/x%2Fy//z%20/./k?q=1&r=%20" });
  expect(seen.headers).toMatchObject({
    host: "app.test:8080",
    "x-forwarded-host": "app.test:8080",
    "x-forwarded-proto": "http",
    "x-forwarded-scheme": "http",
    "x-scheme": "http",
    "x-forwarded-for": "127.0.0.1",
    "x-real-ip": "127.0.0.1",
    "x-forwarded-port": String(plane.ports.http),
  });
  expect(seen.headers["x-request-id"]).toMatch(/^[0-9a-f]{32}$/);
  expect(seen.headers.connection).not.toBe("close");
});

test("a client's own identity headers do not reach the backend", async () => {
  await put(hostDocument("app.test", [routeDocument("/", "a")]));
  const headers = {
    "x-forwarded-for": "9.9.9.9",
    "x-forwarded-host": "evil.test",
    proxy: "x",
    "ssl-client-verify": "SUCCESS",
    "ssl-client-cert": "x",
  };
  const seen = echo(await plane.get("app.test", "/", { headers: { ...headers, "x-request-id": "mine" } }));
  expect(seen.headers).toMatchObject({ "x-forwarded-for": "127.0.0.1", "x-forwarded-host": "app.test", "x-request-id": "mine" });
  expect(seen.headers).toMatchObject({ "x-original-forwarded-for": "9.9.9.9", "x-original-forwarded-host": "evil.test" });
  expect(Object.keys(seen.headers)).not.toEqual(expect.arrayContaining(["proxy"]));
  expect(Object.keys(seen.headers).filter((name) => name.startsWith("ssl-client"))).toEqual([]);
});

test("no host, no route and no backend answer 404, 404 and 503", async () => {
  await put(hostDocument("app.test", [routeDocument("/foo", "a"), routeDocument("/empty/", "empty"), routeDocument("/gone/", "gone")]));
  expect((await plane.get("other.test", "/")).status).toBe(404);
  expect((await plane.get("app.test", "/bar")).status).toBe(404);
  expect((await plane.get("app.test", "/empty/")).status).toBe(503);
  expect((await plane.get("app.test", "/gone/")).status).toBe(503);
  expect(echo(await plane.get("app.test", "/foo")).name).toBe("a");
});

test("exact beats prefix, the longest prefix beats shorter ones, matching is case-sensitive", async () => {
  const routes = [routeDocument("/api", "b"), routeDocument("/api/", "a"), routeDocument("/api/v1/", "b"), routeDocument("/", "a")];
  await put(hostDocument("app.test", routes));
  const asked = ["/api", "/api/x", "/api/v1/x", "/api/v1", "/apix", "/API", "/api/v1/../x", "/%61pi"];
  const names = await Promise.all(asked.map(async (path) => echo(await plane.get("app.test", path)).name));
  expect(names).toEqual(["b", "a", "b", "a", "a", "a", "a", "b"]);
});

test("regex hosts take the first route whose start matches, in any case", async () => {
  const ordered = [
    routeDocument("/a/[0-9]+/x", "b", {}, { kind: "regex" }),
    routeDocument("/Plain", "b", {}, { kind: "iprefix" }),
    routeDocument("/[", "b", {}, { kind: "regex" }),
    routeDocument("/", "a", {}, { kind: "iprefix" }),
  ];
  const reply = await put(hostDocument("re.test", ordered));
  expect(JSON.parse(reply.body)).toMatchObject({ problems: [{ host: "re.test", path: "/[" }] });
  const asked = ["/A/12/x/more", "/plainly", "/a/x", "/[", "/x/plain"];
  const names = await Promise.all(asked.map(async (path) => echo(await plane.get("re.test", path)).name));
  expect(names).toEqual(["b", "b", "a", "a", "a"]);
});

test("host names: any case, with port, exact before wildcard of one label, patterns, aliases, catch-all", async () => {
  await put(
    hostDocument("app.test", [routeDocument("/", "a")]),
    hostDocument("*.app.test", [routeDocument("/", "b")]),
    hostDocument("x.app.test", [routeDocument("/", "a")]),
    hostDocument("alias.test", [], { aliasOf: "app.test" }),
    hostDocument("", [routeDocument("/", "b")]),
  );
  await plane.apply({
    general: {
      ...generalDocument,
      hostPatterns: [
        { pattern: "~^re[0-9]+\\.test$", host: "app.test" },
        { pattern: "*.deep.test", host: "x.app.test" },
      ],
    },
  });
  const asked = [
    "APP.test:99",
    "y.app.test",
    "x.app.test",
    "a.b.app.test",
    "alias.test",
    "re12.test",
    "a.b.deep.test",
    "unknown.test",
    "app.test.",
  ];
  const names = await Promise.all(asked.map(async (host) => echo(await plane.get(host, "/")).name));
  expect(names).toEqual(["a", "b", "a", "b", "a", "a", "a", "b", "a"]);
});

test("the request after an acknowledged change sees it", async () => {
  for (const name of ["a", "b", "a", "b"]) {
    await put(hostDocument("live.test", [routeDocument("/", name)]));
    expect(echo(await plane.get("live.test", "/")).name).toBe(name);
  }
  await plane.apply({ hosts: { remove: ["live.test"] } });
  expect((await plane.get("live.test", "/")).status).toBe(404);
  await put(hostDocument("*.test", [routeDocument("/", "b")]));
  expect(echo(await plane.get("live.test", "/")).name).toBe("b");
});

test("a slash redirect keeps the query and the host", async () => {
  await put(hostDocument("app.test", [routeDocument("/foo", "a", {}, { backend: undefined, fixed: { slash: "/foo/" } })]));
  const reply = await plane.get("app.test", "/foo?x=1");
  expect(reply).toMatchObject({ status: 301, headers: { location: "http://app.test/foo/?x=1" } });
});

test("host-wide answers come before paths: denial, redirect, app root", async () => {
  await put(
    hostDocument("deny.test", [routeDocument("/", "a")], { deny: 403 }),
    hostDocument("www.app.test", [], { redirectTo: { host: "app.test", code: 308 } }),
    hostDocument("root.test", [routeDocument("/", "a")], { appRoot: "/start" }),
  );
  expect((await plane.get("deny.test", "/any")).status).toBe(403);
  expect(await plane.get("www.app.test", "/p/?q=1/")).toMatchObject({
    status: 308,
    headers: { location: `http://app.test:${plane.ports.http}/p/?q=1` },
  });
  expect(await plane.get("root.test:81", "/?x=1")).toMatchObject({ status: 302, headers: { location: "http://root.test:81/start" } });
  expect(echo(await plane.get("root.test", "/other")).uri).toBe("/other");
});

test("the catch-all host answers health and status paths, other hosts do not", async () => {
  await put(hostDocument("app.test", [routeDocument("/", "a")]));
  expect(await plane.get("", "/healthz")).toMatchObject({ status: 200, body: "" });
  expect((await plane.get("nobody.test", "/nginx_status")).body).toContain("Active connections");
  expect(echo(await plane.get("app.test", "/healthz")).uri).toBe("/healthz");
  await plane.apply({ general: { ...generalDocument, statusAllow: ["10.0.0.0/8"] } });
  expect((await plane.get("nobody.test", "/nginx_status")).status).toBe(403);
  await plane.get("nobody.test", "/after-status");
  await plane.accessLine("GET /after-status");
  expect(plane.accessLog()).not.toContain("GET /nginx_status");
});

test("a profile's directives rule its routes only, and the URI stays raw", async () => {
  await put(hostDocument("app.test", [routeDocument("/small/", "a", {}, { profile: "p1" }), routeDocument("/", "a")]));
  const body = "x".repeat(100);
  expect((await plane.get("app.test", "/small/", { method: "POST" }, body)).status).toBe(413);
  expect(echo(await plane.get("app.test", "/", { method: "POST" }, body)).body).toBe(body);
  expect(echo(await plane.get("app.test", "/small/%2F//x%20y?q=%20"))).toMatchObject({ uri: "/small/%2F//x%20y?q=%20" });
});

test("decoded control bytes pass through default and profile locations", async () => {
  await put(hostDocument("app.test", [routeDocument("/small/", "a", {}, { profile: "p1" }), routeDocument("/", "a")]));
  expect(echo(await plane.get("app.test", "/a%0ab")).uri).toBe("/a%0ab");
  expect(echo(await plane.get("app.test", "/small/a%0d%0ab")).uri).toBe("/small/a%0d%0ab");
});

test("a client that asks for a profile's location is routed by path", async () => {
  await put(hostDocument("app.test", [routeDocument("/", "a")]), hostDocument("paths.test", [routeDocument("/x/", "a")]));
  for (const path of ["/~p1", "/~h", "/~status", "/~health", "/~oops", "/~variables", "/~zz?q=1", "/%7Ep1"]) {
    expect(echo(await plane.get("app.test", path, { method: "POST" }, "more than ten bytes")).uri).toBe(path);
    expect((await plane.get("paths.test", path)).status).toBe(404);
  }
});

test("X-Accel-Redirect is routed again as a path, and never enters a location of ours", async () => {
  await put(
    hostDocument("app.test", [
      routeDocument("/b/", "b"),
      routeDocument("/p/", "b", {}, { profile: "p1" }),
      routeDocument("/q/", "a", {}, { profile: "p1" }),
      routeDocument("/", "a"),
    ]),
  );
  expect(echo(await plane.get("app.test", "/x", steer({ by: "a", headers: { "x-accel-redirect": "/b/%20c?d=1" } })))).toMatchObject({
    name: "b",
    uri: "/b/%20c?d=1",
  });
  expect(echo(await plane.get("app.test", "/x%2Fy", steer({ by: "a", headers: { "x-accel-redirect": "/p/c%20d?e=1" } })))).toMatchObject({
    name: "b",
    uri: "/p/c%20d?e=1",
  });
  expect(echo(await plane.get("app.test", "/q/x", steer({ by: "a", headers: { "x-accel-redirect": "/b/c" } })))).toMatchObject({
    name: "b",
    uri: "/b/c",
  });
  for (const target of ["/~p1", "/~h", "/~status", "/~health", "/~none"]) {
    expect((await plane.get("app.test", "/x", steer({ by: "a", headers: { "x-accel-redirect": target } }))).status, target).toBe(404);
  }
});

test("error pages of a profile also cover what Lua itself refuses", async () => {
  const routes = [
    routeDocument("/e/", "empty", {}, { profile: "p2" }),
    routeDocument("/f/", "a", {}, { profile: "p2", fixed: { status: 404 } }),
  ];
  await put(hostDocument("app.test", routes));
  expect(await plane.get("app.test", "/e/")).toMatchObject({ status: 503, body: "oops" });
  expect(await plane.get("app.test", "/f/")).toMatchObject({ status: 404, body: "oops" });
});

test("a profile that this worker lacks is refused and the connection closed", async () => {
  await put(hostDocument("app.test", [routeDocument("/", "a", {}, { profile: "unknown" })]));
  const reply = await plane.get("app.test", "/", { headers: { connection: "keep-alive" } });
  expect(reply).toMatchObject({ status: 503, headers: { connection: "close" } });
  expect(plane.errors()).toContain("profile is not in this worker");
});

test("websockets, HTTP/1.0 and big chunked bodies pass", async () => {
  await put(hostDocument("app.test", [routeDocument("/", "a")]));
  const upgrade = await plane.raw(
    plane.ports.http,
    "GET /ws HTTP/1.1\r\nHost: app.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
    "ping",
    "ping",
  );
  expect(upgrade).toMatch(/^HTTP\/1.1 101 /);
  const old = await plane.raw(plane.ports.http, "GET /old HTTP/1.0\r\nHost: app.test\r\n\r\n");
  expect(old).toMatch(/^HTTP\/1.1 200 /);
  const body = "y".repeat(900_000);
  expect(echo(await plane.get("app.test", "/", { method: "POST", headers: { "transfer-encoding": "chunked" } }, body)).body).toBe(body);
  expect((await plane.get("app.test", "/", { method: "POST" }, "z".repeat(1_100_000))).status).toBe(413);
});

test("answers carry no Server header", async () => {
  await put(hostDocument("app.test", [routeDocument("/", "a"), routeDocument("/p/", "a", {}, { profile: "p1" })]));
  for (const [host, path] of [
    ["app.test", "/"],
    ["app.test", "/p/"],
    ["none.test", "/"],
  ] as const) {
    expect((await plane.get(host, path, steer({ headers: { server: "backend" } }))).headers.server).toBeUndefined();
  }
});

test("status and default servers answer on their own ports", async () => {
  const ask = (port: number, path: string) => plane.get("any", path, { port });
  expect((await ask(plane.ports.status, "/healthz")).status).toBe(200);
  expect(await ask(plane.ports.status, "/is-dynamic-lb-initialized")).toMatchObject({ status: 200, body: "OK\n" });
  expect((await ask(plane.ports.status, "/nginx_status")).body).toContain("Active connections");
  expect((await ask(plane.ports.status, "/configuration/backends")).status).toBe(404);
  expect((await ask(plane.ports.defaultServer, "/healthz")).status).toBe(404);
});
