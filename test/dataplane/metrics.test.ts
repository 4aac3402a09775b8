import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listenForMetrics } from "../../control/report/metrics-socket.ts";
import { Traffic } from "../../control/report/traffic.ts";
import { createLogger } from "../../control/run/logger.ts";
import { endOfDelivery, type MetricsLine, type MetricsSettings } from "../../lua-src/wire.ts";
import {
  backendDocument,
  byName,
  DataPlane,
  generalDocument,
  hostDocument,
  routeDocument,
  startUpstream,
  type Upstream,
} from "../kit/data-plane.ts";
import { isAlive, workersOf } from "../kit/worker-processes.ts";

let plane: DataPlane;
let upstream: Upstream;
let settings: MetricsSettings;
let socket: { stop(): Promise<void> };
const lines: MetricsLine[] = [];
let arrived: () => void = () => undefined;

async function listen(): Promise<void> {
  socket = await listenForMetrics({
    path: settings.socket,
    user: undefined,
    logger: createLogger(0),
    take: (line) => {
      lines.push(line);
      arrived();
    },
  });
}

/** Lines that fit, once their requests add up to `count`. */
async function counted(count: number, fits: (line: MetricsLine) => boolean): Promise<MetricsLine[]> {
  for (;;) {
    const found = lines.filter(fits);
    if (found.reduce((sum, line) => sum + (line[8][1] ?? 0), 0) >= count) return found;
    await new Promise<void>((resolve) => {
      arrived = resolve;
    });
  }
}

function metric(line: MetricsLine): string {
  return line.slice(0, 8).join(" ");
}

beforeAll(async () => {
  upstream = await startUpstream("a");
  plane = await DataPlane.start((view) => {
    const path = join(view.paths.runtimeDir, "metrics.sock");
    settings = {
      perHost: true,
      undefinedHosts: false,
      time: [0.1, 10],
      length: [10, 10_000],
      size: [100],
      skip: ["header_duration_seconds"],
      socket: path,
    };
    return { ...view, metrics: settings };
  });
  await listen();
  const shaping = { weight: 0, weightTotal: 0, header: "x-canary", headerValue: "", headerPattern: "", cookie: "" };
  await plane.apply({
    backends: byName(
      backendDocument("a", [upstream], { alternativeBackends: ["b"] }),
      backendDocument("b", [upstream], { noServer: true, trafficShapingPolicy: shaping }),
      backendDocument("empty", [], { alternativeBackends: ["b"] }),
    ),
    hosts: byName(
      hostDocument("app.test", [
        routeDocument("/", "a"),
        routeDocument("/fixed/", "a", {}, { fixed: { status: 503 } }),
        routeDocument("/deep/", "a", { rewrite: { from: "/deep/", target: "/" } }),
        routeDocument("/empty/", "empty", { customErrors: { backend: "a" } }),
      ]),
      hostDocument("*.wild.test", [routeDocument("/", "a")]),
      hostDocument("alias.test", [], { aliasOf: "app.test" }),
      hostDocument("", [routeDocument("/", "a")]),
    ),
    general: generalDocument,
  });
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.close();
  await socket?.stop();
});

test("requests are counted by host, route, status, method and canary", async () => {
  for (let i = 0; i < 3; i++) await plane.get("app.test", "/");
  await plane.get("app.test", "/", { headers: { "x-canary": "always" } });
  await plane.get("app.test", "/", { method: "POST" }, "abc");
  await plane.get("app.test", "/", { headers: { "x-answer": '{"status":418}' } });
  await plane.get("app.test", "/fixed/x");
  await plane.get("app.test", "/deep/x");
  await plane.get("app.test", "/empty/x");
  await plane.get("alias.test", "/");
  const all = await counted(10, () => true);
  const sums = new Map<string, number>();
  for (const line of all) sums.set(metric(line), (sums.get(metric(line)) ?? 0) + (line[8][1] ?? 0));
  expect(Object.fromEntries(sums)).toEqual({
    "app.test default web a /  GET 200": 3,
    "app.test default web a / b GET 200": 1,
    "app.test default web a /  POST 200": 1,
    "app.test default web a /  GET 418": 1,
    "app.test default web a /fixed/  GET 503": 1,
    "app.test default web a /deep/  GET 200": 1,
    // whoever stands in is no canary
    "app.test default web empty /empty/  GET 200": 1,
    "alias.test default web a /  GET 200": 1,
  });
});

test("hosts that no Ingress names are not counted; what the controller missed comes later, and all of it", async () => {
  await socket.stop();
  lines.length = 0;
  await plane.get("x.wild.test", "/");
  await plane.get("other.test", "/");
  for (let i = 0; i < 20; i++) await plane.get("app.test", "/late");
  await plane.errorLine("metrics cannot be delivered");
  await listen();
  const found = await counted(20, () => true);
  expect(new Set(found.map((line) => line[0]))).toEqual(new Set(["app.test"]));
});

test("a host is counted from its first request to its last, whatever was asked of its name before and after", async () => {
  lines.length = 0;
  const host = hostDocument("new.test", [routeDocument("/", "a")]);
  for (const path of ["/one", "/two"]) {
    await plane.get("new.test", "/before");
    await plane.apply({ hosts: byName(host) });
    for (let i = 0; i < 5; i++) await plane.get("new.test", path);
    await plane.apply({ hosts: { remove: ["new.test"] } });
    await plane.get("new.test", "/after");
  }
  // without a host, HTTP/1.0 has its requests go to "_"
  await plane.raw(plane.ports.http, "GET / HTTP/1.0\r\n\r\n");
  await plane.get("app.test", "/", { method: "DELETE" });
  await counted(1, (line) => line[6] === "DELETE");
  expect(requestsIn(lines.filter((line) => line[0] === "new.test"))).toBe(10);
  expect(requestsIn(lines.filter((line) => line[0] === "_"))).toBe(1);
});

test("a delivery that is not answered keeps its name, so that it counts once", async () => {
  await socket.stop();
  const names: string[] = [];
  const seen = new Promise<void>((done) => {
    const deaf = createServer((connection) => {
      connection.setEncoding("utf8").on("data", (text: string) => {
        names.push(...text.split("\n").filter((line) => line.startsWith(endOfDelivery)));
        connection.destroy();
        if (names.length >= 3) deaf.close(() => done());
      });
    });
    deaf.listen(settings.socket);
  });
  lines.length = 0;
  await plane.get("app.test", "/deaf", { method: "PATCH" });
  await seen;
  expect(new Set(names).size).toBe(1);
  await listen();
  expect(requestsIn(await counted(1, (line) => line[6] === "PATCH"))).toBe(1);
});

function requestsIn(found: readonly MetricsLine[]): number {
  return found.reduce((sum, line) => sum + (line[8][1] ?? 0), 0);
}

function refusals(): number {
  return plane.errors().split("metrics cannot be delivered").length;
}

test("a reload loses no request: neither those that run through it nor those that the controller has not taken", async () => {
  lines.length = 0;
  const told = refusals();
  await socket.stop();
  for (let i = 0; i < 20; i++) await plane.get("app.test", "/before");
  while (refusals() === told) await pause(20);
  const old = workersOf(plane.pid());
  const slow = Array.from({ length: 5 }, () => plane.get("app.test", "/slow", { headers: { "x-answer": '{"delay":1500}' } }));
  let [over, answered] = [false, 0];
  const loops = [1, 2, 3, 4].map(async () => {
    for (; !over; answered++) expect((await plane.get("app.test", "/during")).status).toBe(200);
  });
  await plane.reload((view) => ({ ...view, profiles: [{ id: "p9", family: "http", directives: [] }] }));
  await Promise.all(slow);
  over = true;
  await Promise.all(loops);
  while (old.some(isAlive)) await pause(20);
  await listen();
  const found = await counted(25 + answered, () => true);
  expect(requestsIn(found)).toBe(25 + answered);
});

test("the counters make histograms", async () => {
  lines.length = 0;
  await plane.get("app.test", "/histogram", { method: "PUT" }, "x".repeat(20_000));
  const found = await counted(1, (line) => line[6] === "PUT");
  const traffic = new Traffic({ settings, labels: 'pod="p"', statusClasses: true });
  for (const line of found) traffic.add(line);
  let text = "";
  for await (const piece of traffic.pieces()) text += piece;
  const labels = 'pod="p",status="2xx",method="PUT",path="/",namespace="default",ingress="web",service="a",canary="",host="app.test"';
  const own = (name: string, more = "") => text.includes(`nginx_ingress_controller_${name}{${labels}${more}} 1\n`);
  expect(own("requests")).toBe(true);
  expect(own("request_duration_seconds_bucket", ',le="10"')).toBe(true);
  expect(own("request_duration_seconds_count")).toBe(true);
  expect(own("connect_duration_seconds_count")).toBe(true);
  expect(own("request_size_bucket", ',le="10000"')).toBe(false);
  expect(own("request_size_bucket", ',le="+Inf"')).toBe(true);
  expect(text).toMatch(/request_size_sum\{[^}]*\} 20[0-9]{3}\n/);
  expect(text).not.toContain("header_duration_seconds");
  traffic.retain(new Set(["default/other"]));
  expect(traffic.count).toBe(0);
});
