import http from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FeatureDocuments, RateLimitDocument, StateDocument } from "../../lua-src/wire.ts";
import {
  backendDocument,
  byName,
  DataPlane,
  type Echo,
  generalDocument,
  hostDocument,
  routeDocument,
  startUpstream,
  type Upstream,
} from "../kit/data-plane.ts";

let plane: DataPlane;
let ups: Upstream[];

const limit: RateLimitDocument = { zone: "z", key: "$binary_remote_addr", requestStatus: 503, connectionStatus: 429 };

function serve(name: string, features: FeatureDocuments, backend = "main") {
  return plane.apply({ hosts: byName(hostDocument(name, [routeDocument("/", backend, features)])) });
}

/** Statuses of requests sent one after the other. */
async function statuses(host: string, times: number, headers: Record<string, string> = {}): Promise<number[]> {
  const seen: number[] = [];
  for (let i = 0; i < times; i++) seen.push((await plane.get(host, "/", { headers })).status);
  return seen;
}

const slow = (delay: number) => ({ "x-answer": JSON.stringify({ delay }) });

/** Until a request is answered 200; a place that is never given back fails here. */
async function untilServed(host: string): Promise<void> {
  const until = Date.now() + 10_000;
  for (;;) {
    const status = await plane.get(host, "/").then(
      (r) => r.status,
      () => 0,
    );
    if (status === 200) return;
    if (Date.now() > until) throw new Error(`still ${status}\n${plane.errors()}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Until nginx has passed a request on: its upstream answers late. */
async function hanging(host: string): Promise<http.ClientRequest> {
  const sent = http.request({ host: "127.0.0.1", port: plane.ports.http, agent: false, path: "/", headers: { host, ...slow(60_000) } });
  sent.on("error", () => undefined);
  sent.end();
  const until = Date.now() + 10_000;
  while ((await statuses(host, 1))[0] === 200) {
    if (Date.now() > until) throw new Error("the limit never holds");
  }
  return sent;
}

beforeAll(async () => {
  ups = await Promise.all(["u0", "u1", "u2"].map((name) => startUpstream(name)));
  plane = await DataPlane.start();
  await plane.apply({ backends: byName(backendDocument("main", ups)), general: generalDocument });
});

afterAll(async () => {
  await plane?.stop();
  await Promise.all((ups ?? []).map((up) => up.close()));
});

test("one request and the burst pass at once, the rest is refused with the status of the limit", async () => {
  const requests = [{ name: "rpm", rate: 16, burst: 2000 }] as const;
  await serve("rpm.test", { rateLimit: { ...limit, zone: "rpm", requests } });
  expect(await statuses("rpm.test", 5)).toEqual([200, 200, 200, 503, 503]);
  await serve("rpm2.test", { rateLimit: { ...limit, zone: "rpm2", requests, requestStatus: 429 } });
  expect(await statuses("rpm2.test", 4)).toEqual([200, 200, 200, 429]);
});

test("a request that one limit refuses counts for none", async () => {
  const rpm = { name: "rpm", rate: 16, burst: 1000 } as const;
  const rps = { name: "rps", rate: 1, burst: 3000 } as const;
  await serve("two.test", { rateLimit: { ...limit, zone: "two", requests: [rps, rpm] } });
  expect(await statuses("two.test", 6)).toEqual([200, 200, 503, 503, 503, 503]);
  await serve("one.test", { rateLimit: { ...limit, zone: "two", requests: [rps] } });
  expect(await statuses("one.test", 3)).toEqual([200, 200, 503]);
});

test("an empty key and clients of the list are not limited; other keys have their own count", async () => {
  const requests = [{ name: "rpm", rate: 16, burst: 0 }] as const;
  await serve("key.test", { rateLimit: { ...limit, zone: "key", key: "$http_x_user", requests } });
  expect(await statuses("key.test", 3)).toEqual([200, 200, 200]);
  expect(await statuses("key.test", 2, { "x-user": "a" })).toEqual([200, 503]);
  expect(await statuses("key.test", 2, { "x-user": `b${"long".repeat(100)}` })).toEqual([200, 503]);
  await serve("free.test", { rateLimit: { ...limit, zone: "free", allow: ["10.0.0.0/8", "127.0.0.1/32"], requests } });
  expect(await statuses("free.test", 3)).toEqual([200, 200, 200]);
});

test("the place of a client that goes away is free again", async () => {
  await serve("conn.test", { rateLimit: { ...limit, zone: "conn", connections: 1 } });
  const sent = await hanging("conn.test");
  expect(await statuses("conn.test", 2)).toEqual([429, 429]);
  sent.destroy();
  await untilServed("conn.test");
  expect(await statuses("conn.test", 3)).toEqual([200, 200, 200]);
});

test("what a worker held that died is free again", async () => {
  await serve("crash.test", { rateLimit: { ...limit, zone: "crash", connections: 1 } });
  await hanging("crash.test");
  const state = JSON.parse((await plane.configuration("GET", "/configuration/state")).body) as StateDocument;
  process.kill(state.pid, "SIGKILL");
  await untilServed("crash.test");
});

test("a backend with its limit of requests in progress is spared further ones", async () => {
  await plane.apply({ backends: byName(backendDocument("few", ups, { maxInFlight: 1 })) });
  await serve("few.test", { inFlight: { limited: true } }, "few");
  const sent = await hanging("few.test");
  expect(await statuses("few.test", 2)).toEqual([503, 503]);
  sent.destroy();
  await untilServed("few.test");
});

test("least connections leaves a busy peer alone", async () => {
  await plane.apply({ backends: byName(backendDocument("least", ups, { "load-balance": "least_conn" })) });
  await serve("least.test", { measure: { end: true } }, "least");
  const busy = plane.get("least.test", "/", { headers: slow(1500) });
  // the one worker has taken it up when it answers this
  await plane.configuration("GET", "/configuration/state");
  const seen = new Set<string>();
  for (let i = 0; i < 40; i++) seen.add((JSON.parse((await plane.get("least.test", "/")).body) as Echo).name);
  expect([...seen, (JSON.parse((await busy).body) as Echo).name].sort()).toEqual(["u0", "u1", "u2"]);
});

test("limit-rate 0 of a route undoes that of the server", async () => {
  await serve("rate.test", { limitRate: { bytes: 0 } });
  expect(await statuses("rate.test", 1)).toEqual([200]);
});
