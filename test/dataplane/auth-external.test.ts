import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { AuthExternalDocument, FeatureDocuments } from "../../lua-src/wire.ts";
import { selfSigned } from "../kit/certificates.ts";
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
let backend: Upstream;
const servers: { close(): unknown }[] = [];

/** Where an auth server listens, and what it has seen. */
interface AuthServer {
  readonly url: string;
  readonly seen: { readonly method: string | undefined; readonly url: string | undefined; readonly headers: http.IncomingHttpHeaders }[];
  connections: number;
}

type Answer = (answer: http.ServerResponse, seen: http.IncomingMessage) => void;

async function listen(server: Server | http.Server | https.Server): Promise<number> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  servers.push({
    close() {
      if ("closeAllConnections" in server) server.closeAllConnections();
      server.close();
    },
  });
  return (server.address() as AddressInfo).port;
}

async function authServer(answerWith: Answer, tls = false, options: https.ServerOptions = {}): Promise<AuthServer> {
  const auth: { url: string; seen: AuthServer["seen"]; connections: number } = { url: "", seen: [], connections: 0 };
  const handler: http.RequestListener = (seen, answer) => {
    auth.seen.push({ method: seen.method, url: seen.url, headers: seen.headers });
    seen.resume();
    answerWith(answer, seen);
  };
  const { certificate, key } = selfSigned("auth.test");
  const server = tls ? https.createServer({ cert: certificate, key, ...options }, handler) : http.createServer(handler);
  server.on(tls ? "secureConnection" : "connection", () => {
    auth.connections += 1;
  });
  auth.url = `${tls ? "https" : "http"}://127.0.0.1:${await listen(server)}`;
  return auth;
}

/** Sends these bytes and closes; "" closes at once. */
async function rawServer(bytes: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    if (bytes === "") socket.resetAndDestroy();
    else socket.once("data", () => socket.end(bytes));
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

async function serve(authExternal: AuthExternalDocument, more: FeatureDocuments = {}): Promise<void> {
  await plane.apply({ hosts: byName(hostDocument("app.test", [routeDocument("/", "a", { ...more, authExternal })])) });
}

function echo(reply: Reply): Echo {
  expect(reply.status, reply.body).toBe(200);
  return JSON.parse(reply.body) as Echo;
}

const ok: Answer = (answer) => answer.writeHead(204).end();

beforeAll(async () => {
  backend = await startUpstream("a");
  plane = await DataPlane.start();
  await plane.apply({ backends: byName(backendDocument("a", [backend])), general: generalDocument });
});

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

afterAll(async () => {
  await plane?.stop();
  await backend?.close();
});

test("the service gets the client's headers and what we know of the request, and no body", async () => {
  const auth = await authServer(ok);
  await serve({ url: `${auth.url}/check?u=$request_uri` });
  const headers = { cookie: "sid=1", "x-original-url": "forged", "x-real-ip": "9.9.9.9", te: "trailers", "x-own": "1" };
  const reply = await plane.get("app.test:81", "/a%20b?c=d", { method: "POST", headers: { ...headers, "content-length": 3 } }, "abc");
  expect(echo(reply)).toMatchObject({ method: "POST", body: "abc", headers: { "x-own": "1" } });
  expect(auth.seen).toHaveLength(1);
  const { method, url, headers: got } = auth.seen[0]!;
  expect([method, url]).toEqual(["GET", "/check?u=/a%20b?c=d"]);
  expect(got).toMatchObject({
    host: "127.0.0.1",
    cookie: "sid=1",
    connection: "close",
    "x-own": "1",
    "x-original-url": "http://app.test:81/a%20b?c=d",
    "x-original-method": "POST",
    "x-sent-from": "nginx-ingress-controller",
    "x-real-ip": "127.0.0.1",
    "x-forwarded-for": "127.0.0.1",
    "x-auth-request-redirect": "/a%20b?c=d",
    "x-request-id": expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  for (const name of ["content-length", "te", "x-forwarded-proto", "x-original-uri", "x-scheme", "ssl-client-verify"]) {
    expect(got).not.toHaveProperty(name);
  }
});

test("an answer's headers replace the client's; absent ones are removed", async () => {
  const auth = await authServer((answer) => answer.writeHead(200, { "X-User": ["a", "b"], Authorization: "Bearer t" }).end("yes"));
  await serve({ url: auth.url, responseHeaders: ["X-User", "X-Groups", "Authorization"] });
  const reply = await plane.get("app.test", "/", { headers: { "x-user": "forged", "x-groups": "admin", authorization: "Basic x" } });
  const { headers } = echo(reply);
  expect(headers).toMatchObject({ "x-user": "a, b", authorization: "Bearer t" });
  expect(headers).not.toHaveProperty("x-groups");
});

test("cookies of the answer come as lines of their own beside the backend's, and only with the statuses of add_header", async () => {
  const auth = await authServer((answer) => answer.writeHead(200, { "Set-Cookie": ["a=1", "b=2"] }).end());
  const steer = (status: number) => ({ headers: { "x-answer": JSON.stringify({ status, headers: { "set-cookie": "own=1" } }) } });
  await serve({ url: auth.url });
  expect((await plane.get("app.test", "/", steer(201))).headers["set-cookie"]).toEqual(["own=1", "a=1", "b=2"]);
  expect((await plane.get("app.test", "/", steer(404))).headers["set-cookie"]).toEqual(["own=1"]);
  await serve({ url: auth.url, alwaysSetCookie: true });
  expect((await plane.get("app.test", "/", steer(404))).headers["set-cookie"]).toEqual(["own=1", "a=1", "b=2"]);
});

test.each([
  [401, 401],
  [403, 403],
  [404, 500],
  [302, 500],
  [304, 500],
  [503, 500],
  [299, 200],
])("an answer of %i is %i for the client", async (said, status) => {
  const auth = await authServer((answer) => answer.writeHead(said).end());
  await serve({ url: auth.url });
  expect((await plane.get("app.test", "/")).status).toBe(status);
});

test("a service that fails closes the route", async () => {
  const closed = await authServer(ok);
  for (const server of servers.splice(0)) server.close();
  const urls = [
    closed.url,
    await rawServer(""),
    await rawServer("HTTP/1.1 200"),
    await rawServer("220 mail\r\n\r\n"),
    await rawServer(`HTTP/1.1 200 OK\r\nX: ${"a".repeat(100_000)}\r\n\r\n`),
    (await authServer(ok)).url.replace("http:", "https:"),
    "http://$arg_host/",
    "http://no-resolver.test/",
  ];
  for (const url of urls) {
    await serve({ url, responseHeaders: ["X-User"] });
    expect([url, (await plane.get("app.test", "/")).status]).toEqual([url, 500]);
  }
  const silent = await authServer(() => {});
  await serve({ url: silent.url, timeouts: { read: 50 } });
  expect((await plane.get("app.test", "/")).status).toBe(500);
  expect(plane.errors()).toContain("auth service does not answer");
});

test("connections are kept where asked for, for so many requests, whatever the body's form", async () => {
  const bodies: Answer[] = [
    (answer) => answer.writeHead(200, { "content-length": 3 }).end("abc"),
    (answer) => {
      answer.writeHead(200);
      answer.write("a");
      answer.end("bc");
    },
    ok,
  ];
  for (const body of bodies) {
    for (const tls of [false, true]) {
      const auth = await authServer(body, tls);
      await serve({ url: auth.url, keepalive: { connections: 2, requests: 3, timeout: 60_000 } });
      for (let i = 0; i < 6; i++) expect((await plane.get("app.test", "/")).status).toBe(200);
      expect(auth.seen).toHaveLength(6);
      // a worker of several has a pool of its own
      expect(auth.connections).toBeLessThan(6);
      expect(auth.seen[0]!.headers.connection).toBeUndefined();
      auth.connections = 0;
      await serve({ url: auth.url });
      for (let i = 0; i < 3; i++) expect((await plane.get("app.test", "/")).status).toBe(200);
      expect(auth.connections).toBe(3);
    }
  }
});

test.each(["TLSv1.2", "TLSv1.3"] as const)("a service that speaks %s alone is asked", async (version) => {
  const auth = await authServer(ok, true, { minVersion: version, maxVersion: version });
  await serve({ url: auth.url });
  expect((await plane.get("app.test", "/")).status).toBe(200);
});

test("HEAD and its Content-Length keep the connection in step", async () => {
  const auth = await authServer((answer) => answer.writeHead(200, { "content-length": 100 }).end());
  await serve({ url: auth.url, method: "HEAD", keepalive: { connections: 2, requests: 100, timeout: 60_000 } });
  for (let i = 0; i < 4; i++) expect((await plane.get("app.test", "/x")).status).toBe(200);
  expect(auth.seen.map(({ method }) => method)).toEqual(["HEAD", "HEAD", "HEAD", "HEAD"]);
  expect(auth.seen[0]!.headers).toMatchObject({ "x-original-uri": "/x", "x-scheme": "http" });
});

test("a body over HTTP/2 waits for the answer and arrives whole", async () => {
  const auth = await authServer((answer) => setTimeout(() => answer.writeHead(200).end(), 30));
  await serve({ url: auth.url });
  const session = http2.connect(`https://127.0.0.1:${plane.ports.https}`, { rejectUnauthorized: false });
  const body = "0123456789".repeat(40_000);
  const replies = await Promise.all(
    [1, 2, 3].map(
      (n) =>
        new Promise<[number | undefined, string]>((done, failed) => {
          const stream = session.request({ ":method": "PUT", ":path": `/${n}`, ":authority": "app.test" });
          let text = "";
          let status: number | undefined;
          stream.on("response", (headers) => {
            status = headers[":status"];
          });
          stream.setEncoding("latin1");
          stream.on("data", (part: string) => {
            text += part;
          });
          stream.on("end", () => done([status, text]));
          stream.on("error", failed);
          stream.end(body);
        }),
    ),
  );
  session.close();
  for (const [status, text] of replies) {
    expect(status).toBe(200);
    expect((JSON.parse(text) as Echo).body).toBe(body);
  }
  expect(auth.seen.map(({ headers }) => headers["x-original-url"]).sort()).toEqual([1, 2, 3].map((n) => `https://app.test/${n}`));
});

test("a refusal over HTTP/1 leaves a connection in step, body or not", async () => {
  const auth = await authServer((answer) => answer.writeHead(401, { "WWW-Authenticate": "Bearer" }).end());
  await serve({ url: auth.url });
  const one = "POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 5\r\n\r\nhello";
  const last = "GET / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n";
  const seen = await plane.raw(plane.ports.http, one, last);
  expect(seen.match(/HTTP\/1\.1 401/g)).toHaveLength(2);
  expect(seen.match(/WWW-Authenticate: Bearer/g)).toHaveLength(2);
});

test("all challenges of the service reach the client", async () => {
  const auth = await authServer((answer) => answer.writeHead(401, { "WWW-Authenticate": ['Bearer realm="a"', 'Basic realm="b"'] }).end());
  await serve({ url: auth.url });
  expect((await plane.get("app.test", "/")).headers["www-authenticate"]).toBe('Bearer realm="a", Basic realm="b"');
});

test("the way to the sign-in page: variables, the client's URL, cookies, and no line of the client's making", async () => {
  const auth = await authServer((answer) => answer.writeHead(401, { "Set-Cookie": "csrf=1" }).end());
  await serve({
    url: auth.url,
    signin: "https://login.test/?x=$arg_x&u=$uri&e=$escaped_request_uri&s=$service_name",
    signinParameter: "&rd=",
  });
  const reply = await plane.get("app.test:81", "/a%0d%0aX:%20y?x=%C3%A9+1");
  expect(reply.status).toBe(302);
  expect(reply.headers["set-cookie"]).toEqual(["csrf=1"]);
  const uri = "%2Fa%250d%250aX%3A%2520y%3Fx%3D%25C3%25A9%2B1";
  expect(reply.headers.location).toBe(`https://login.test/?x=%C3%A9+1&u=/a%0D%0AX:%20y&e=${uri}&s=a&rd=http://app.test:81${uri}`);
  await serve({ url: auth.url, signin: "/login" });
  expect((await plane.get("app.test", "/")).headers.location).toBe("http://app.test/login");
});

test("answers are kept by key and scope; those that set a cookie are not", async () => {
  const auth = await authServer((answer, seen) => answer.writeHead(Number(seen.headers["x-say"] ?? 200), { "X-User": "u" }).end());
  const cache = { key: "$http_x_key", scope: "s1", valid: [{ codes: [200, 401], seconds: 600 }] };
  const ask = async (say: number, key: string) => (await plane.get("app.test", "/", { headers: { "x-say": say, "x-key": key } })).status;
  await serve({ url: auth.url, cache, responseHeaders: ["X-User"] });
  expect(await ask(200, "a")).toBe(200);
  expect(await ask(401, "a")).toBe(200);
  expect(await ask(401, "b")).toBe(401);
  expect(await ask(200, "b")).toBe(401);
  expect(await ask(403, "c")).toBe(403);
  expect(await ask(200, "c")).toBe(200);
  expect(auth.seen).toHaveLength(4);
  expect(echo(await plane.get("app.test", "/", { headers: { "x-key": "a", "x-user": "forged" } })).headers["x-user"]).toBe("u");
  await serve({ url: auth.url, cache: { ...cache, scope: "s2" } });
  expect(await ask(403, "a")).toBe(403);
  const cookies = await authServer((answer) => answer.writeHead(200, { "Set-Cookie": "a=1" }).end());
  await serve({ url: cookies.url, cache: { ...cache, scope: "s3" } });
  await ask(200, "a");
  await ask(200, "a");
  expect(cookies.seen).toHaveLength(2);
});

test("with satisfy any an address that may pass spares the question, and forged headers still go", async () => {
  const auth = await authServer((answer) => answer.writeHead(403).end());
  const any = { satisfy: { any: true } } as const;
  await serve({ url: auth.url, responseHeaders: ["X-User"] }, { ...any, ipAccess: { allow: ["127.0.0.0/8"] } });
  expect(echo(await plane.get("app.test", "/", { headers: { "x-user": "forged" } })).headers).not.toHaveProperty("x-user");
  expect(auth.seen).toHaveLength(0);
  await serve({ url: auth.url }, { ...any, ipAccess: { allow: ["10.0.0.0/8"] } });
  expect((await plane.get("app.test", "/")).status).toBe(403);
});
