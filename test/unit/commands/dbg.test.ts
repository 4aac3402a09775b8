import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runDbg } from "../../../control/commands/dbg.ts";
import { matchText } from "../../../control/commands/dbg-match.ts";
import { layoutOf } from "../../../control/run/layout.ts";
import type { HostDocument, MatchDocument, RouteDocument } from "../../../lua-src/wire.ts";

let root: string;
let dataPlane: Server;
let controller: Server;
let healthzPort: number;
/** Path → status and body, for both servers. */
let answers: Record<string, readonly [number, unknown]>;
let asked: string[];

const source = { namespace: "web", ingress: "shop", service: "echo", port: "80", path: "/cart" };
const route: RouteDocument = { kind: "prefix", path: "/cart/", backend: "web-echo-80", source, features: { retries: { tries: 2 } } };

function server(): Server {
  return createServer((request, response) => {
    asked.push(request.url!);
    const [status, body] = answers[request.url!.split("?")[0]!] ?? [404, "not here"];
    response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
  });
}

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "sluice-dbg-"));
  answers = {};
  asked = [];
  const { socket } = layoutOf(root);
  mkdirSync(dirname(socket), { recursive: true });
  dataPlane = server();
  controller = server();
  await new Promise<void>((resolve) => dataPlane.listen(socket, resolve));
  await new Promise<void>((resolve) => controller.listen(0, "127.0.0.1", resolve));
  healthzPort = (controller.address() as AddressInfo).port;
});

afterEach(async () => {
  for (const each of [dataPlane, controller]) {
    each.closeAllConnections();
    await new Promise((resolve) => each.close(resolve));
  }
  rmSync(root, { recursive: true });
});

async function dbg(...words: string[]): Promise<readonly [number, string]> {
  let text = "";
  const code = await runDbg([...words, `--runtime-dir=${root}`, "--healthz-port", String(healthzPort), "--status-port=10246"], (more) => {
    text += more;
  });
  return [code, text];
}

test("backends: all, list, get", async () => {
  answers["/configuration/backends"] = [
    200,
    [
      { port: 80, name: "a" },
      { port: 0, name: "b", endpoints: [{ port: "1", address: "10.0.0.1" }] },
    ],
  ];
  expect(await dbg("backends", "list")).toEqual([0, "a\nb\n"]);
  expect((await dbg("backends", "all"))[1]).toMatch(/^\[\n {2}\{\n {4}"port": 80,\n {4}"name": "a"\n/);
  const [, one] = await dbg("backends", "get", "b");
  expect(one).toBe(
    '{\n  "endpoints": [\n    {\n      "address": "10.0.0.1",\n      "port": "1"\n    }\n  ],\n  "name": "b",\n  "port": 0\n}\n',
  );
  expect(await dbg("backends", "get", "c")).toEqual([0, "A backend of this name was not found.\n"]);
});

test("what the data plane refuses is printed, and exits 0 for the old commands, 1 for the new ones", async () => {
  answers["/configuration/backends"] = [500, "no"];
  answers["/configuration/routes"] = [500, "no"];
  expect(await dbg("backends", "list")).toEqual([0, "Nginx returned code 500\n"]);
  expect(await dbg("routes")).toEqual([1, "Nginx returned code 500\n"]);
});

test("certs: the text as it is, and who has none", async () => {
  answers["/configuration/certs"] = [200, "-----BEGIN…\n"];
  expect(await dbg("certs", "get", "*.a.test")).toEqual([0, "-----BEGIN…\n"]);
  expect(new URL(asked[0]!, "http://x").searchParams.get("hostname")).toBe("*.a.test");
  answers["/configuration/certs"] = [404, ""];
  expect(await dbg("certs", "get", "b.test")).toEqual([0, "No cert found for host b.test\n"]);
  answers["/configuration/certs"] = [400, "why"];
  expect(await dbg("certs", "get", "b.test")).toEqual([0, "Nginx returned code 400\nwhy\n"]);
});

test("conf prints the file of the runtime folder", async () => {
  writeFileSync(layoutOf(root).confFile, "events {}");
  expect(await dbg("conf")).toEqual([0, "events {}\n"]);
});

test("a data plane that is not there is said in a sentence", async () => {
  await new Promise((resolve) => dataPlane.close(resolve));
  const [code, text] = await dbg("general");
  expect(code).toBe(0);
  expect(text).toContain(`cannot reach the data plane at ${layoutOf(root).socket}`);
});

test("unknown commands, flags and wrong counts of arguments exit 1", async () => {
  for (const words of [
    ["nonsense"],
    ["backends"],
    ["backends", "get"],
    ["backends", "list", "x"],
    ["general", "--nonsense"],
    ["match"],
    ["match", "a", "--header", "x"],
  ]) {
    const [code, text] = await dbg(...words);
    expect([words, code]).toEqual([words, 1]);
    expect(text).toMatch(/^Error: .+\nUsage:/);
  }
  expect((await dbg())[0]).toBe(0);
  expect((await dbg("--help"))[1]).toContain("dbg backends get NAME");
});

test("routes of all hosts and of one", async () => {
  const hosts: HostDocument[] = [
    { name: "", routes: [{ kind: "prefix", path: "/", fixed: { status: 404 }, source: { ...source, ingress: "" }, features: {} }] },
    { name: "a.test", routes: [route] },
    { name: "b.test", aliasOf: "a.test", routes: [] },
  ];
  answers["/configuration/routes"] = [200, hosts];
  const [, text] = await dbg("routes");
  const rows = text.split("\n").map((line) => line.split(/ {2,}/));
  expect(rows.slice(1, 4)).toEqual([
    ["(any)", "prefix", "/", "(404)", "default"],
    ["a.test", "prefix", "/cart/", "web-echo-80", "default", "web/shop"],
    ["b.test", "alias of a.test"],
  ]);
  expect((await dbg("routes", "A.test"))[1].split("\n")).toHaveLength(3);
  expect(await dbg("routes", "c.test")).toEqual([1, expect.stringContaining("No host of the name c.test")]);
});

test("match asks with what the router sees, and explains the answer", async () => {
  const match: MatchDocument = {
    host: "a.test",
    how: "exact",
    route,
    backend: "web-echo-80",
    endpoints: [{ address: "fd00::1", port: "80" }],
    reasons: ["x"],
  };
  answers["/configuration/match"] = [200, match];
  const [code, text] = await dbg("match", "https://A.test:8443/%63art//x?q=1", "--header", "X-Canary: always", "--method=post");
  expect(code).toBe(0);
  const query = Object.fromEntries(new URL(asked[0]!, "http://x").searchParams);
  expect(query).toEqual({
    host: "a.test",
    uri: "/cart/x",
    raw: "/%63art//x?q=1",
    scheme: "https",
    method: "POST",
    "header.x-canary": "always",
  });
  expect(text.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["url", "https://A.test:8443/%63art//x?q=1"],
    ["host", "a.test (exact)"],
    ["route", "prefix /cart/, from path /cart of Ingress web/shop"],
    ["profile", "default"],
    ["service", "web/echo:80"],
    ["features", "retries"],
    ["backend", "web-echo-80"],
    ["endpoints", "[fd00::1]:80"],
    ["answer", "that of the backend"],
    ["because", "x"],
    [""],
  ]);
});

test("match: a Host header counts, what is no URL is refused", async () => {
  answers["/configuration/match"] = [200, { how: "none", status: 404, reasons: [] }];
  await dbg("match", "127.0.0.1:8080/", "-H", "Host: B.test:1");
  expect(new URL(asked[0]!, "http://x").searchParams.get("host")).toBe("b.test");
  expect(await dbg("match", "http://a b/")).toEqual([1, "not a URL: http://a b/\n"]);
});

test("match: an escaped question mark belongs to the path, for the router as for the backend", async () => {
  answers["/configuration/match"] = [200, { how: "none", status: 404, reasons: [] }];
  await dbg("match", "http://a.test/what%3Fnow%2Fhere?q=%3F");
  const query = new URL(asked[0]!, "http://x").searchParams;
  expect([query.get("uri"), query.get("raw")]).toEqual(["/what?now/here", "/what%3Fnow%2Fhere?q=%3F"]);
});

test("match names the canary that answers, or all that may", () => {
  const of = (match: Partial<MatchDocument>) => matchText("a.test", { host: "a.test", how: "exact", reasons: [], backend: "a", ...match });
  expect(of({ backend: "b", canary: "b" })).toContain("canary     b\n");
  expect(of({ sharing: ["b", "c"] })).toContain("canary     b or c may take the request instead\n");
});

test("answers without a backend are told with their place", () => {
  const text = matchText("http://a.test/", { host: "", how: "catch-all", status: 308, location: "https://a.test/", reasons: [] });
  expect(text).toContain("host       the catch-all\n");
  expect(text).toContain("answer     308 to https://a.test/\n");
});

test("findings in words", async () => {
  answers["/findings"] = [
    200,
    [
      {
        code: "service-missing",
        severity: "error",
        object: "Ingress a/b",
        at: "spec",
        text: "there is none",
        hint: "Make one.",
        since: "x",
      },
    ],
  ];
  expect(await dbg("findings")).toEqual([0, "error   Ingress a/b: spec: there is none [service-missing]\n        Make one.\n"]);
  answers["/findings"] = [200, []];
  expect(await dbg("findings")).toEqual([0, "No findings.\n"]);
});

test("state has both halves, and one where the other is down", async () => {
  answers["/configuration/state"] = [200, { version: 7 }];
  expect(JSON.parse((await dbg("state"))[1])).toEqual({
    dataPlane: { version: 7 },
    controller: { error: "The controller returned code 404" },
  });
  answers["/state"] = [200, { synced: true }];
  await new Promise((resolve) => dataPlane.close(resolve));
  const [code, text] = await dbg("state");
  expect(code).toBe(0);
  expect(JSON.parse(text)).toMatchObject({ dataPlane: { error: expect.stringContaining("cannot reach") }, controller: { synced: true } });
});

test("conf of a host: its locations with the directives of their profiles and their settings", async () => {
  const { confFile } = layoutOf(root);
  writeFileSync(
    confFile,
    "http {\n  location = /~abc {\n    internal;\n    proxy_buffering off;\n    if ($x) {\n      set $y 1;\n    }\n  }\n  other;\n}\n",
  );
  const document: HostDocument = {
    name: "a.test",
    appRoot: "/app",
    routes: [
      { ...route, profile: "abc" },
      { kind: "exact", path: '/q"', fixed: { slash: "/q/" }, source, features: {} },
    ],
  };
  answers["/configuration/routes"] = [200, [document]];
  const [code, text] = await dbg("conf", "--host=A.test");
  expect(code).toBe(0);
  expect(text).toContain('## start server a.test\nserver {\n    server_name "a.test";');
  expect(text).toContain(
    '    location "/cart/" {\n        # Ingress web/shop, path /cart, Service echo:80\n        set $proxy_upstream_name "web-echo-80";',
  );
  expect(text).toContain("        proxy_buffering off;\n        if ($x) {\n        set $y 1;\n        }");
  expect(text).not.toContain("internal;");
  expect(text).toContain('# retries: {"tries":2}');
  expect(text).toContain('location = "/q\\"" {');
  expect(text.trimEnd()).toMatch(/## end server a.test$/);
  expect((await dbg("conf", "--host=none.test"))[1]).toContain("No host of the name none.test");
});
