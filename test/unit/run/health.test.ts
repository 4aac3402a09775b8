import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Bytes } from "../../../control/report/bytes.ts";
import type { AppliedRequest } from "../../../control/run/applied-request.ts";
import { type HealthServer, startHealth } from "../../../control/run/health.ts";
import { ping } from "../../../control/run/health-report.ts";
import { createLogger } from "../../../control/run/logger.ts";

let server: HealthServer;
let problem: string | undefined;
let asked: { readonly request: AppliedRequest; readonly timeoutMs: number }[];
let missing: readonly string[];
let pieces: () => AsyncIterable<string | Buffer> | Iterable<string>;

beforeEach(async () => {
  problem = undefined;
  asked = [];
  missing = [];
  pieces = () => ["a 1\n", "b 2\n"];
  server = await startHealth({
    host: "127.0.0.1",
    port: 0,
    path: "/healthz",
    checks: [
      ping,
      {
        name: "nginx-ingress-controller",
        run: () => {
          if (problem !== undefined) throw new Error(problem);
        },
      },
    ],
    metrics: async () => ({ contentType: "text/plain; version=0.0.4", pieces: pieces() }),
    findings: () => [{ code: "service-missing", about: { kind: "Ingress", namespace: "a", name: "b" }, at: "", text: "there is none" }],
    state: () => ({ synced: true }),
    waitApplied: async (request, timeoutMs) => {
      asked.push({ request, timeoutMs });
      return missing.length === 0 ? { done: true } : { done: false, missing };
    },
    scopeOf: (kind) => (kind === "IngressClass" ? "cluster" : kind === "Ingress" ? "namespaced" : undefined),
    logger: createLogger(0, { write: () => {} }),
  });
});

afterEach(() => server.stop());

async function get(path: string, init: RequestInit = {}): Promise<readonly [number, string]> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, init);
  return [response.status, await response.text()];
}

test("all is well", async () => {
  expect(await get("/healthz")).toEqual([200, "ok"]);
  expect(await get("/healthz?verbose")).toEqual([200, "[+]ping ok\n[+]nginx-ingress-controller ok\nhealthz check passed\n"]);
  expect(await get("/healthz/ping")).toEqual([200, "ok"]);
  expect(await get("/other")).toEqual([404, "404 page not found\n"]);
});

test("a failed check fails the whole, withholds the reason there and tells it on its own path", async () => {
  problem = "nginx is gone";
  expect(await get("/healthz")).toEqual([500, "[+]ping ok\n[-]nginx-ingress-controller failed: reason withheld\nhealthz check failed\n"]);
  expect(await get("/healthz/nginx-ingress-controller")).toEqual([500, "internal server error: nginx is gone\n"]);
  expect(await get("/healthz?exclude=nginx-ingress-controller")).toEqual([200, "ok"]);
});

test("metrics are packed for who takes gzip, and plain for who does not", async () => {
  const packings: (string | null)[] = [];
  for (const offer of ["gzip", "deflate, gzip;q=0.5", "identity", "gzip;q=0", "x-gzip"]) {
    const response = await fetch(`http://127.0.0.1:${server.port}/metrics`, { headers: { "accept-encoding": offer } });
    expect(await response.text()).toBe("a 1\nb 2\n");
    packings.push(response.headers.get("content-encoding"));
  }
  expect(packings).toEqual(["gzip", "gzip", null, null, null]);
});

test.each(["gzip", "identity"])(
  "%s: metrics written in two buffers in turn arrive whole, and nobody makes them for a client that left",
  async (encoding) => {
    const out = new Bytes(16);
    let ended = 0;
    pieces = async function* () {
      try {
        for (let line = 0; line < 300; line++) {
          out.text(`${line} ${"x".repeat(line % 7 === 0 ? 100_000 : 10)}\n`);
          yield out.take();
        }
      } finally {
        ended += 1;
      }
    };
    const headers = { "accept-encoding": encoding };
    const expected = Array.from({ length: 300 }, (_, line) => `${line} ${"x".repeat(line % 7 === 0 ? 100_000 : 10)}\n`);
    const [, whole] = await get("/metrics", { headers });
    expect(whole === expected.join("")).toBe(true);
    const response = await fetch(`http://127.0.0.1:${server.port}/metrics`, { headers });
    await response.body!.cancel();
    await vi.waitUntil(() => ended === 2, { timeout: 20_000 });
  },
);

test("metrics, findings and state", async () => {
  expect(await get("/state")).toEqual([200, '{"synced":true}\n']);
  expect(await get("/metrics")).toEqual([200, "a 1\nb 2\n"]);
  const [status, body] = await get("/findings");
  expect(status).toBe(200);
  expect(JSON.parse(body)).toMatchObject([{ code: "service-missing" }]);
});

test("applied: what is asked for arrives in parts", async () => {
  const [status, body] = await get("/applied?object=Ingress//web@12&object=IngressClass//nginx@7&gone=Ingress/b/old&timeout=500ms");
  expect([status, JSON.parse(body)]).toEqual([200, { done: true }]);
  expect(asked).toEqual([
    {
      request: {
        objects: [
          { kind: "Ingress", namespace: "default", name: "web", resourceVersion: "12" },
          { kind: "IngressClass", namespace: "", name: "nginx", resourceVersion: "7" },
        ],
        gone: [{ kind: "Ingress", namespace: "b", name: "old" }],
      },
      timeoutMs: 500,
    },
  ]);
});

test("applied: the same in the body of a POST, and 504 with what is missing", async () => {
  missing = ["Ingress/default/web"];
  const body = new URLSearchParams({ object: "Ingress/default/web@12" });
  const [status, text] = await get("/applied?timeout=1s", { method: "POST", body });
  expect([status, JSON.parse(text)]).toEqual([504, { done: false, missing }]);
  expect(asked[0]).toMatchObject({ timeoutMs: 1000, request: { objects: [{ name: "web" }] } });
});

test("applied: what cannot be understood is refused", async () => {
  for (const query of [
    "object=Ingress/a/b",
    "object=Ingress/a/b@",
    "object=Gateway/a/b@1",
    "gone=Ingress/a",
    "gone=IngressClass/a/b",
    "timeout=10",
    "objekt=x",
  ]) {
    const [status, body] = await get(`/applied?${query}`);
    expect([query, status]).toEqual([query, 400]);
    expect(JSON.parse(body).error).toBeTypeOf("string");
  }
  expect(asked).toEqual([]);
  expect((await get("/applied", { method: "DELETE" }))[0]).toBe(405);
});
