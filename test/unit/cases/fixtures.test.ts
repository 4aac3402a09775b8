import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { describe, expect, test } from "vitest";
import { createReader } from "../../cases/runner/client/byte-reader";
import { authReply } from "../../kit/fixtures/auth-reply";
import { findService } from "../../kit/fixtures/catalog";
import { fastcgiFixture } from "../../kit/fixtures/fastcgi-echo";
import { RECORD, readRecords, writeRecord, writeStream } from "../../kit/fixtures/fastcgi-protocol";
import { fixtureObjects, sliceObject } from "../../kit/fixtures/objects";
import { createRecorder, foldHeaders, type Seen } from "../../kit/fixtures/record";

const ASKED: Seen = {
  service: "auth",
  namespace: "default",
  pod: "auth-0",
  method: "POST",
  uri: "/",
  http_version: "1.1",
  headers: { "x-real-ip": "1.2.3.4" },
  body: "",
  tls: null,
};

function auth(uri: string): { status: number; headers: Record<string, string | string[]>; delayMs: number } {
  const { status, headers, delayMs } = authReply({ ...ASKED, uri });
  return { status, headers: foldHeaders(headers.flat()), delayMs };
}

describe("the auth service", () => {
  test("grants with a user and a cookie", () => {
    expect(auth("/ok?rd=x")).toMatchObject({ status: 200, headers: { "x-auth-user": "alice" } });
    expect(auth("/ok").headers["set-cookie"]).toContain("auth=yes");
    expect(auth("/slow/40")).toMatchObject({ status: 200, delayMs: 40 });
  });
  test("refuses, redirects, answers with a header", () => {
    expect([auth("/deny").status, auth("/forbid").status, auth("/redirect").status]).toEqual([401, 403, 302]);
    expect(auth("/header/X-Pass/a%20b")).toMatchObject({ status: 200, headers: { "x-pass": "a b" } });
  });
  test("reflects what it was asked with", () => {
    expect(auth("/reflect/X-Real-IP").headers["x-reflect"]).toBe("1.2.3.4");
    expect(auth("/reflect/cookie").headers["x-reflect"]).toBe("-");
    expect(auth("/reflect/:method").headers["x-reflect"]).toBe("POST");
  });
});

describe("the objects of the fixtures", () => {
  test("scaling keeps the addresses of the pods that stay", () => {
    const addresses = (pods: number): readonly string[] =>
      (sliceObject(findService("echo"), pods).endpoints as readonly { addresses: readonly string[] }[]).flatMap((one) => one.addresses);
    expect(addresses(0)).toEqual([]);
    expect(addresses(5).slice(0, 3)).toEqual(addresses(3));
    expect(new Set(addresses(5)).size).toBe(5);
  });
  test("every address belongs to one service only", () => {
    const all = fixtureObjects()
      .filter((one) => one.kind === "EndpointSlice")
      .flatMap((one) => (one.endpoints as readonly { addresses: readonly string[] }[]).flatMap((endpoint) => endpoint.addresses));
    expect(new Set(all).size).toBe(all.length);
  });
});

test("the FastCGI responder answers with headers, body and parameters", async () => {
  const server = fastcgiFixture({ service: "fastcgi-echo", namespace: "default", pod: () => "p" }, createRecorder());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const pair = (name: string, value: string): Buffer =>
    Buffer.concat([Buffer.from([name.length, value.length]), Buffer.from(name + value)]);
  const params = Buffer.concat([
    pair("REQUEST_METHOD", "POST"),
    pair("REQUEST_URI", "/x?y=1"),
    pair("HTTP_X_A", "1"),
    pair("APP_ENV", "test"),
  ]);
  socket.write(writeRecord(RECORD.begin, 1, Buffer.from([0, 1, 0, 0, 0, 0, 0, 0])));
  socket.write(Buffer.concat([writeStream(RECORD.params, 1, params), writeStream(RECORD.stdin, 1, Buffer.from("data"))]));
  const { records } = readRecords(await createReader(socket, 5000).rest());
  server.close();
  const text = Buffer.concat(records.filter((one) => one.type === RECORD.stdout).map((one) => one.content)).toString();
  const [head = "", body = ""] = text.split("\r\n\r\n");
  expect(head).toContain("Status: 200");
  expect(JSON.parse(body)).toMatchObject({
    method: "POST",
    uri: "/x?y=1",
    headers: { "x-a": "1" },
    body: "data",
    params: { APP_ENV: "test" },
  });
  expect(records.at(-1)?.type).toBe(RECORD.end);
});
