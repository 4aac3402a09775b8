import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RequestSpec } from "../../cases/runner/case";
import { generateKeys } from "../../cases/runner/certificate";
import { createSender } from "../../cases/runner/client/client";
import { headerValues, type Outcome, type Reply } from "../../cases/runner/client/reply";
import { parseTarget, rawBytes } from "../../cases/runner/client/target";
import { echoOf } from "../../cases/runner/expectation";
import { createKeyPool, makeAuthority, makeMaterials } from "../../cases/runner/materials";
import { grpcFixture } from "../../kit/fixtures/grpc-echo";
import { httpFixture } from "../../kit/fixtures/http-echo";
import { tcpFixture } from "../../kit/fixtures/plain-echo";
import { createRecorder } from "../../kit/fixtures/record";

const servers: Server[] = [];
const recorder = createRecorder();
const who = { service: "echo", namespace: "default", pod: () => "echo-0" };

async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

let ports: { http: number; https: number };
let clientCert: { cert: string; key: string };

beforeAll(async () => {
  const ca = makeAuthority("CA", generateKeys("ec256"));
  const { texts } = makeMaterials(
    {
      echo: { generate: "cert", cn: "echo.test", ca: "fixture-ca", key: "ec256" },
      me: { generate: "cert", cn: "me", ca: "fixture-ca", key: "ec256" },
    },
    ca,
    createKeyPool(),
  );
  clientCert = { cert: texts.get("me.crt")!, key: texts.get("me.key")! };
  const tls = { cert: texts.get("echo.crt")!, key: texts.get("echo.key")! };
  ports = { http: await listen(httpFixture(who, recorder, "echo")), https: await listen(httpFixture(who, recorder, "echo", tls)) };
});

afterAll(() => {
  for (const server of servers) server.close();
});

async function send(spec: RequestSpec, more: { clientIp?: string; withCert?: boolean } = {}): Promise<Outcome> {
  const sender = createSender({
    proxy: { address: "127.0.0.1", ports },
    spec,
    clientIp: more.clientIp ?? "127.0.0.1",
    reuse: false,
    clientCert: more.withCert === true ? clientCert : undefined,
  });
  const outcome = await sender.send([]);
  sender.close();
  return outcome;
}

async function reply(spec: RequestSpec, more: { clientIp?: string; withCert?: boolean } = {}): Promise<Reply> {
  const outcome = await send(spec, more);
  if (outcome.kind === "failed") throw new Error(outcome.failure.reason);
  return outcome.reply;
}

/** A server that hands each connection's first data to `talk`. */
function scripted(talk: (socket: Socket, data: string) => void): Promise<number> {
  return listen(
    createServer((socket) => socket.on("error", () => socket.destroy()).once("data", (data) => talk(socket, data.toString("latin1")))),
  );
}

describe("urls", () => {
  test("are taken apart and not tidied", () => {
    expect(parseTarget("http://app.test:8080/a/../b//c?x=%zz")).toEqual({
      scheme: "http",
      host: "app.test",
      port: 8080,
      path: "/a/../b//c?x=%zz",
    });
    expect(parseTarget("https://app.test?x=1")).toMatchObject({ path: "/?x=1", port: undefined });
    expect(parseTarget("http://[::1]:80/")).toMatchObject({ host: "[::1]", port: 80 });
    expect(() => parseTarget("ftp://x/")).toThrow("ftp");
  });
  test("raw text is one byte a character where it can be", () => {
    expect([...rawBytes("\x16\xff")]).toEqual([0x16, 0xff]);
    expect(rawBytes("€").length).toBe(3);
  });
});

describe("HTTP/1", () => {
  test("headers given as a list are sent as several lines, and the target as written", async () => {
    const seen = echoOf(await reply({ url: "http://app.test/a/../b?x=%20", headers: { "X-Two": ["1", "2"] } }));
    expect(seen).toMatchObject({ uri: "/a/../b?x=%20", method: "GET", headers: { host: "app.test", "x-two": ["1", "2"] } });
  });
  test("a host header replaces the Host only", async () => {
    expect(echoOf(await reply({ url: "http://app.test/", headers: { host: "b.test:8080" } }))?.headers.host).toBe("b.test:8080");
  });
  test("bodies: plain, chunked, of a size", async () => {
    expect(echoOf(await reply({ url: "http://a.test/", method: "POST", body: "hello" }))).toMatchObject({
      body: "hello",
      headers: { "content-length": "5" },
    });
    const chunked = echoOf(await reply({ url: "http://a.test/", method: "POST", body: "hello", chunked: true }));
    expect(chunked).toMatchObject({ body: "hello", headers: { "transfer-encoding": "chunked" } });
    expect(chunked?.headers["content-length"]).toBeUndefined();
    expect(echoOf(await reply({ url: "http://a.test/", method: "PUT", body: { size: 100_000 } }))?.body.length).toBe(100_000);
  });
  test("steering: status, repeated headers, size, dropped connection", async () => {
    const came = await reply({
      url: "http://a.test/",
      headers: { "x-echo-status": "503", "x-echo-header": ["Set-Cookie: a=1", "Set-Cookie: b=2"], "x-echo-size": "300000" },
    });
    expect(came.status).toBe(503);
    expect(headerValues(came, "set-cookie")).toEqual(["a=1", "b=2"]);
    expect(came.body.length).toBe(300_000);
    expect((await send({ url: "http://a.test/", headers: { "x-echo-close": "1" } })).kind).toBe("failed");
  });
  test("HEAD and 204 have no body to wait for; HTTP/1.0 is said", async () => {
    expect((await reply({ url: "http://a.test/", method: "HEAD" })).body.length).toBe(0);
    expect((await reply({ url: "http://a.test/", headers: { "x-echo-status": "204" } })).status).toBe(204);
    expect(echoOf(await reply({ url: "http://a.test/", http_version: "1.0" }))?.http_version).toBe("1.0");
  });
  test("a reply without length ends with the connection; interim replies are skipped", async () => {
    const port = await scripted((socket) => socket.end("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX: 1\r\n\r\nuntil the end"));
    const came = await reply({ url: `http://a.test:${port}/` });
    expect(came.status).toBe(200);
    expect(came.body.toString()).toBe("until the end");
  });
  test("a reply cut short is a failure", async () => {
    const port = await scripted((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf"));
    expect((await send({ url: `http://a.test:${port}/` })).kind).toBe("failed");
  });
  test("the PROXY line goes before everything", async () => {
    const port = await scripted((socket, data) => socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${data.split("\r\n")[0]}`));
    expect((await reply({ url: `http://a.test:${port}/`, proxy_protocol: "PROXY TCP4 1.2.3.4 5.6.7.8 1 2" })).body.toString()).toBe(
      "PROXY TCP4 1.2.3.4 5.6.7.8 1 2",
    );
  });
  test("the client address is the one asked for", async () => {
    const port = await scripted((socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${socket.remoteAddress}`));
    expect((await reply({ url: `http://a.test:${port}/` }, { clientIp: "127.0.0.9" })).body.toString()).toBe("127.0.0.9");
  });
  test("a reused connection is one connection, and a closed one is replaced", async () => {
    let opened = 0;
    const server = httpFixture(who, recorder, "echo");
    server.on("connection", () => {
      opened++;
    });
    const port = await listen(server);
    const spec = { url: `http://a.test:${port}/` };
    const sender = createSender({
      proxy: { address: "127.0.0.1", ports },
      spec,
      clientIp: "127.0.0.1",
      reuse: true,
      clientCert: undefined,
    });
    for (let i = 0; i < 5; i++) expect((await sender.send([])).kind).toBe("reply");
    expect(opened).toBe(1);
    server.closeAllConnections();
    expect((await sender.send([])).kind).toBe("reply");
    expect(opened).toBe(2);
    sender.close();
  });
  test("a refused port is a failure and no time-out", async () => {
    const port = await scripted(() => undefined);
    servers.pop()!.close();
    expect(await send({ url: `http://a.test:${port}/` })).toMatchObject({ kind: "failed", failure: { timedOut: false } });
  });
});

describe("TLS", () => {
  test("the backend sees the name and the client certificate, the client what was agreed", async () => {
    const came = await reply({ url: "https://app.test/" }, { withCert: true });
    expect(echoOf(came)?.tls).toEqual({ sni: "app.test", client_cn: "me" });
    expect(came.tls).toMatchObject({ protocol: "TLSv1.3", subject_cn: "echo.test", alpn: "http/1.1" });
  });
  test("sni null sends none, versions can be limited", async () => {
    const came = await reply({ url: "https://app.test/", tls: { sni: null, max: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" } });
    expect(echoOf(came)?.tls).toEqual({ sni: null, client_cn: null });
    expect(came.tls).toMatchObject({ protocol: "TLSv1.2", cipher: "ECDHE-ECDSA-AES128-GCM-SHA256" });
    expect((await send({ url: "https://app.test/", tls: { max: "TLSv1.1" } })).kind).toBe("failed");
  });
});

describe("other protocols", () => {
  test("a websocket echoes the frame", async () => {
    const came = await reply({ url: "http://a.test/chat", protocol: "websocket", body: "hello" });
    expect(came.status).toBe(101);
    expect(came.body.toString()).toBe("hello");
    expect((await reply({ url: "http://a.test/", protocol: "websocket", body: "x".repeat(70_000) })).body.length).toBe(70_000);
  });
  test("gRPC: one unary call with metadata and trailers", async () => {
    const port = await listen(grpcFixture({ ...who, service: "grpc-echo" }, recorder));
    const came = await reply({ url: `http://app.test:${port}/echo.Echo/Unary`, protocol: "grpc", headers: { "x-meta": "1" } });
    expect(echoOf(came)).toMatchObject({
      service: "grpc-echo",
      uri: "/echo.Echo/Unary",
      headers: { "x-meta": "1", host: `app.test:${port}` },
    });
    expect(headerValues(came, "content-type")).toEqual(["application/grpc"]);
    expect(headerValues(came, "grpc-status")).toEqual(["0"]);
  });
  test("raw bytes: the first reply gives status and headers, all that follows is body", async () => {
    const port = await scripted((socket, data) => socket.end(`HTTP/1.1 400 Bad\r\nX: ${data.length}\r\n\r\nHTTP/1.1 200 second\r\n\r\n`));
    const came = await reply({ url: `http://a.test:${port}/`, raw: "\x00\xff" });
    expect(came).toMatchObject({ status: 400, headers: [["X", "2"]] });
    expect(came.body.toString()).toBe("HTTP/1.1 200 second\r\n\r\n");
  });
  test("tcp collects what comes back", async () => {
    const port = await listen(tcpFixture());
    expect((await reply({ url: `tcp://a.test:${port}`, raw: "ping\n" })).body.toString()).toBe("ping\n");
  });
});
