import https from "node:https";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ConfView } from "../../control/plan/conf-view.ts";
import type { FeatureDocuments } from "../../lua-src/wire.ts";
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
const profiles = [{ id: "p1", family: "http" as const, directives: [{ name: "absolute_redirect", args: ["off"] }] }];

function route(features: FeatureDocuments, profile?: string) {
  return hostDocument("app.test", [routeDocument("/", "a", features, { profile })]);
}

function echo(reply: Reply): Echo {
  expect(reply.status, reply.body).toBe(200);
  return JSON.parse(reply.body) as Echo;
}

async function start(change: (view: ConfView) => ConfView): Promise<DataPlane> {
  const started = await DataPlane.start((view) => change({ ...view, profiles }));
  await started.apply({ backends: byName(backendDocument("a", [a]), backendDocument("empty", [])), general: generalDocument });
  return started;
}

beforeAll(async () => {
  a = await startUpstream("a");
  plane = await start((view) => view);
});

afterAll(async () => {
  await plane?.stop();
  await a?.close();
});

test("rewriting fills groups, keeps the query, escapes as nginx does and tells the prefix", async () => {
  const rewrite = { from: "/api(/|$)(.*)", target: "/t/$2$7", forwardedPrefix: "/api-$1" };
  for (const profile of [undefined, "p1"]) {
    await plane.apply({ hosts: byName(route({ rewrite }, profile)) });
    expect(echo(await plane.get("app.test", "/API/a%20b?x=%20"))).toMatchObject({
      uri: "/t/a%20b?x=%20",
      headers: { "x-forwarded-prefix": "/api-/" },
    });
    expect(echo(await plane.get("app.test", "/other/%2F")).uri).toBe("/other/%2F");
    expect(echo(await plane.get("app.test", "/api/%0d%3f")).uri).toBe("/t/%0D%3F");
  }
});

test("a rewrite to what looks like a location of ours reaches the backend", async () => {
  await plane.apply({ hosts: byName(route({ rewrite: { from: "^/(.*)", target: "/~$1" } })) });
  expect(echo(await plane.get("app.test", "/h")).uri).toBe("/~h");
  await plane.apply({ hosts: byName(route({ rewrite: { from: "^/x(.*)", target: "$1" } })) });
  expect((await plane.get("app.test", "/x")).status).toBe(500);
});

test("ssl-redirect: host without port, raw URI without its last slash, and only for plain http", async () => {
  await plane.apply({ hosts: byName(route({ sslRedirect: { code: 308, force: true } })) });
  expect(await plane.get("app.test:8080", "/a%20b/?q=1/")).toMatchObject({
    status: 308,
    headers: { location: "https://app.test/a%20b/?q=1" },
  });
  expect((await plane.get("app.test", "/")).headers.location).toBe("https://app.test");
  expect(
    echo(
      await plane.get("app.test", "/", {
        port: plane.ports.https,
        agent: new https.Agent({ rejectUnauthorized: false }),
        protocol: "https:",
      } as object),
    ).headers,
  ).toMatchObject({ "x-forwarded-proto": "https", "x-forwarded-port": "443" });
  await plane.apply({ hosts: byName(route({ sslRedirect: { code: 301, force: true, preserveTrailingSlash: true, port: 8443 } }, "p1")) });
  expect(await plane.get("app.test", "/")).toMatchObject({ status: 301, headers: { location: "https://app.test:8443/" } });
});

test("ssl-redirect without force wants a certificate for the very name or its wildcard", async () => {
  const uid = "u1";
  await plane.apply({
    hosts: byName(
      route({ sslRedirect: { code: 308 } }),
      hostDocument("*.wild.test", [routeDocument("/", "a", { sslRedirect: { code: 308 } })]),
    ),
    servers: { upsert: { "*.wild.test": uid } },
  });
  expect((await plane.get("app.test", "/")).status).toBe(200);
  expect((await plane.get("x.wild.test", "/y")).headers.location).toBe("https://x.wild.test/y");
  await plane.apply({ servers: { upsert: { "app.test": uid } } });
  expect((await plane.get("app.test", "/")).headers.location).toBe("https://app.test");
  await plane.apply({ servers: { remove: ["app.test", "*.wild.test"] } });
});

test("a rewrite target that is a URL sends the client there, query and escapes kept", async () => {
  await plane.apply({ hosts: byName(route({ rewrite: { from: "^/x/(.*)", target: "https://new.test/y/$1" } })) });
  expect(await plane.get("app.test", "/x/a%20b/%3Fc?d=e")).toMatchObject({
    status: 302,
    headers: { location: "https://new.test/y/a%20b/%3Fc?d=e" },
  });
  expect((await plane.get("app.test", "/x/a&b")).headers.location).toBe("https://new.test/y/a&b");
  expect((await plane.get("app.test", "/other")).status).toBe(200);
});

test("a preflight has no body and no type; other answers keep theirs", async () => {
  const cors = { origins: ["https://a.test"], methods: "GET", headers: "X-A", credentials: true, maxAge: 5 };
  await plane.apply({ hosts: byName(route({ cors })) });
  const preflight = await plane.get("app.test", "/", { method: "OPTIONS", headers: { origin: "https://a.test" } });
  expect(preflight).toMatchObject({ status: 204, body: "", headers: { "access-control-allow-origin": "https://a.test" } });
  expect(preflight.headers["transfer-encoding"]).toBeUndefined();
  expect(preflight.headers["content-type"]).toBeUndefined();
  expect(preflight.headers["content-length"]).toBe("0");
  const steer = { headers: { origin: "https://a.test", "x-answer": JSON.stringify({ headers: { "content-type": "text/x" } }) } };
  expect((await plane.get("app.test", "/", steer)).headers["content-type"]).toBe("text/x");
});

test("the redirect to https comes before an empty backend's 503", async () => {
  await plane.apply({
    hosts: byName(hostDocument("app.test", [routeDocument("/", "empty", { sslRedirect: { code: 308, force: true } })])),
  });
  expect((await plane.get("app.test", "/")).status).toBe(308);
});

test("upstream-vhost changes Host alone and knows variables", async () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: nginx variable
  await plane.apply({ hosts: byName(route({ upstreamVhost: { host: "in.${host}.$request_method.x" } })) });
  expect(echo(await plane.get("app.test:81", "/")).headers).toMatchObject({ host: "in.app.test.GET.x", "x-forwarded-host": "app.test:81" });
});

test("a route without access log leaves no line", async () => {
  await plane.apply({
    hosts: byName(hostDocument("app.test", [routeDocument("/quiet/", "a", { accessLog: { off: true } }), routeDocument("/", "a")])),
  });
  await plane.get("app.test", "/quiet/x");
  await plane.get("app.test", "/loud");
  await plane.accessLine("GET /loud");
  expect(plane.accessLog()).not.toContain("/quiet/");
});

test("slash redirects are relative, or name the port, where the route says so", async () => {
  await plane.apply({
    hosts: byName(
      hostDocument("app.test", [
        routeDocument("/foo", "a", { redirectStyle: { relative: true } }, { fixed: { slash: "/foo/" } }),
        routeDocument("/p", "a", { redirectStyle: { port: true } }, { fixed: { slash: "/p/" } }),
        routeDocument("/b", "a", {}, { fixed: { slash: "/b/" } }),
      ]),
    ),
  });
  expect((await plane.get("app.test", "/p")).headers.location).toBe(`http://app.test:${plane.ports.http}/p/`);
  expect((await plane.get("app.test", "/foo?a=1")).headers.location).toBe("/foo/?a=1");
  expect((await plane.get("app.test", "/b")).headers.location).toBe("http://app.test/b/");
});

test("HSTS is ours on https and the backend's own on http", async () => {
  await plane.apply({ hosts: byName(route({})) });
  const own = { headers: { "x-answer": JSON.stringify({ headers: { "strict-transport-security": "max-age=1" } }) } };
  expect((await plane.get("app.test", "/", own)).headers["strict-transport-security"]).toBe("max-age=1");
  const secure = await new Promise<string | undefined>((resolve, reject) => {
    https
      .get(
        { host: "127.0.0.1", port: plane.ports.https, rejectUnauthorized: false, headers: { host: "app.test", ...own.headers } },
        (reply) => {
          reply.resume();
          resolve(reply.headers["strict-transport-security"]);
        },
      )
      .on("error", reject);
  });
  expect(secure).toBe("max-age=31536000; includeSubDomains");
});

test("log variables are filled from the route when the log names them", async () => {
  const logged = await start((view) => ({
    ...view,
    accessLog: { ...view.accessLog, format: "$namespace|$ingress_name|$service_name|$service_port|$location_path|$proxy_upstream_name" },
  }));
  await logged.apply({ hosts: byName(route({})), general: { ...generalDocument, logVariables: ["namespace"] } });
  await logged.get("app.test", "/x");
  expect(await logged.accessLine("|")).toBe("default|web|a|80|/|a");
  await logged.stop();
});

test("with use-forwarded-headers scheme, host, port and client address are the proxy's word", async () => {
  const trusting = await start((view) => ({
    ...view,
    forwarded: { ...view.forwarded, useForwardedHeaders: true, computeFullForwardedFor: true },
  }));
  await trusting.apply({ hosts: byName(route({ sslRedirect: { code: 308, force: true } })) });
  const forwarded = {
    "x-forwarded-proto": "https",
    "x-forwarded-host": "outer.test, inner.test",
    "x-forwarded-port": "8443",
    "x-forwarded-for": "9.9.9.9, 8.8.8.8",
  };
  const seen = echo(await trusting.get("app.test", "/", { headers: forwarded }));
  expect(seen.headers).toMatchObject({
    host: "outer.test",
    "x-forwarded-host": "outer.test",
    "x-forwarded-proto": "https",
    "x-forwarded-port": "8443",
    "x-real-ip": "9.9.9.9",
    "x-forwarded-for": "9.9.9.9, 8.8.8.8, 127.0.0.1",
  });
  const plain = await trusting.get("app.test", "/x", { headers: { "x-forwarded-host": "outer.test:99" } });
  expect(plain.headers.location).toBe("https://outer.test/x");
  await trusting.stop();
});

test("the Server header goes without the headers-more module too", async () => {
  const bare = await start((view) => ({
    ...view,
    paths: { ...view.paths, modules: view.paths.modules.filter((file) => !file.includes("headers_more")) },
    features: { ...view.features, headersMore: false },
  }));
  await bare.apply({ hosts: byName(route({}), hostDocument("p.test", [routeDocument("/", "a", {}, { profile: "p1" })])) });
  for (const host of ["app.test", "p.test", "none.test"]) expect((await bare.get(host, "/")).headers.server).toBeUndefined();
  await bare.stop();
});

test("proxy protocol gives scheme, port and client address", async () => {
  const behind = await start((view) => ({
    ...view,
    forwarded: { ...view.forwarded, useProxyProtocol: true },
    listens: view.listens.map((listen) => ({ ...listen, proxyProtocol: true })),
  }));
  await behind.apply({ hosts: byName(route({})) });
  const reply = await behind.raw(behind.ports.http, "PROXY TCP4 1.2.3.4 5.6.7.8 1111 443\r\nGET / HTTP/1.0\r\nHost: app.test\r\n\r\n");
  const seen = JSON.parse(reply.slice(reply.indexOf("\r\n\r\n") + 4)) as Echo;
  expect(seen.headers).toMatchObject({ "x-forwarded-proto": "https", "x-forwarded-port": "443", "x-real-ip": "1.2.3.4" });
  await behind.stop();
});
