import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { freePorts } from "../../build/free-ports.ts";
import { get } from "../kit/client.ts";
import { Collector, type SentSpan } from "../kit/collector.ts";
import { Controller, eventually } from "../kit/controller.ts";
import { configMap, endpointSlices, ingress, ingressClass, service } from "../kit/manifests.ts";
import { type Pods, startPods } from "../kit/pods.ts";

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const parent = "00f067aa0ba902b7";

let controller: Controller;
let pods: Pods;
/** Answers when a test does. */
let slow: Server;
let collector: Collector | undefined;
let port: number;
let stopped = false;

beforeAll(async () => {
  [port] = (await freePorts(1)) as [number];
  pods = await startPods({ app: 1 });
  slow = createServer().listen(0, "127.0.0.1");
  await once(slow, "listening");
  controller = await Controller.create();
  controller.write("app.json", [
    ingressClass,
    service("app"),
    service("slow"),
    ...endpointSlices("slow", [{ address: "127.0.0.1", port: (slow.address() as AddressInfo).port }]),
    ...endpointSlices("app", pods.of("app")),
    ingress("app", { host: "app.test", paths: { "/": "app", "/shop": "app", "/gone": "gone", "/held": "slow" } }),
    ingress("own", {
      host: "own.test",
      paths: { "/": "app" },
      annotations: {
        "enable-opentelemetry": "true",
        "opentelemetry-operation-name": "checkout",
        "opentelemetry-trust-incoming-span": "false",
      },
    }),
    ingress("off", { host: "off.test", paths: { "/": "app" }, annotations: { "enable-opentelemetry": "false" } }),
  ]);
  controller.write("settings.json", [configMap({ "worker-processes": "1" })]);
  await controller.start();
});

afterAll(async () => {
  await collector?.stop();
  if (!stopped) await controller?.stop();
  await pods?.stop();
  slow?.close();
});

beforeEach(async () => {
  await collector?.stop();
  collector = await Collector.start(port);
});

async function settings(more: Readonly<Record<string, string>> = {}): Promise<void> {
  const data = { "enable-opentelemetry": "true", "otlp-collector-host": "127.0.0.1", "otlp-collector-port": String(port) };
  await controller.apply("settings.json", [configMap({ ...data, "otel-schedule-delay-millis": "50", "worker-processes": "1", ...more })]);
}

function ask(host: string, path = "/", headers: Readonly<Record<string, string>> = {}) {
  return get({ port: controller.ports.http, host, path, headers });
}

async function spans(count: number): Promise<readonly SentSpan[]> {
  await eventually(`${count} spans arrived`, async () => collector!.spans.length >= count);
  return collector!.spans;
}

async function unsent(): Promise<string | undefined> {
  return (await controller.findings()).find(({ code }) => code === "spans-unsent")?.text;
}

test("a span says what became of the request, under the client's trace", async () => {
  await settings({ "otel-service-name": "edge" });
  const before = BigInt(Date.now() - 1000) * 1_000_000n;
  const headers = { traceparent: `00-${trace}-${parent}-01`, tracestate: "vendor=1", "user-agent": "test/1" };
  await ask("app.test", "/shop/cart?id=7", headers);
  const [span] = await spans(1);
  expect(span).toMatchObject({ trace, parent, state: "vendor=1", name: "/shop", kind: 2, status: 0 });
  expect(span!.id).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
  expect(span!.resource).toMatchObject({ "service.name": "edge" });
  expect(span!.attributes).toMatchObject({
    "http.method": "GET",
    "http.flavor": "1.1",
    "http.target": "/shop/cart?id=7",
    "http.scheme": "http",
    "http.host": "app.test",
    "http.server_name": "app.test",
    "http.user_agent": "test/1",
    "http.status_code": "200",
    "net.host.port": String(controller.ports.http),
    "net.peer.ip": "127.0.0.1",
    "ingress.namespace": "default",
    "ingress.name": "app",
    "ingress.service_name": "app",
    "ingress.upstream": "default-app-http",
  });
  expect(span!.start).toBeGreaterThan(before);
  expect(span!.end).toBeGreaterThanOrEqual(span!.start);
  expect(span!.end).toBeLessThan(before + 60_000_000_000n);
});

test("each trace that begins here has an id of its own; a failure is marked", async () => {
  await settings();
  await ask("app.test", "/", { traceparent: "00-no-trace-01", tracestate: "vendor=1" });
  await ask("app.test", "/gone");
  const [first, second] = (await spans(2)) as [SentSpan, SentSpan];
  expect(first).toMatchObject({ parent: "", state: "", status: 0 });
  expect(second).toMatchObject({ parent: "", status: 2, name: "/gone" });
  expect(second.attributes).toMatchObject({ "http.status_code": "503" });
  expect(new Set([first.trace, second.trace, trace]).size).toBe(3);
});

test("an Ingress has its own say", async () => {
  await settings({ "opentelemetry-operation-name": "everything" });
  await ask("off.test", "/", { traceparent: `00-${trace}-${parent}-01` });
  await ask("own.test", "/", { traceparent: `00-${trace}-${parent}-01` });
  await ask("app.test", "/");
  const found = await spans(2);
  expect(found.map(({ name }) => name)).toEqual(["checkout", "everything"]);
  expect(found[0]!.trace).not.toBe(trace);
});

test("text that is no UTF-8 costs no span", async () => {
  await settings();
  await ask("app.test", "/", { "user-agent": Buffer.from([0x61, 0xff, 0xc3]).toString("latin1") });
  const [span] = await spans(1);
  expect(span!.attributes).toMatchObject({ "http.user_agent": "a%FF%C3" });
});

describe("sampling", () => {
  test.each([
    ["AlwaysOff", {}, []],
    ["TraceIdRatioBased", { "otel-sampler-ratio": "0" }, []],
    ["TraceIdRatioBased", { "otel-sampler-ratio": "1" }, ["root", "joined"]],
  ])("%s %o", async (sampler, more, roots) => {
    await settings({ "otel-sampler": sampler, ...more });
    await ask("app.test", "/", {});
    await ask("app.test", "/", { traceparent: `00-${trace}-${parent}-01` });
    await ask("app.test", "/", { traceparent: `00-${trace}-${parent}-00` });
    const expected = roots.length === 0 ? 1 : 2;
    const found = await spans(expected);
    expect(found.map((span) => (span.trace === trace ? "joined" : "root"))).toEqual(expected === 1 ? ["joined"] : roots);
  });

  test("without otel-sampler-parent-based the sampler alone decides", async () => {
    await settings({ "otel-sampler": "AlwaysOff", "otel-sampler-parent-based": "false" });
    await ask("app.test", "/", { traceparent: `00-${trace}-${parent}-01` });
    await settings({ "otel-sampler-parent-based": "false" });
    await ask("app.test", "/", { traceparent: `00-${trace}-${parent}-00` });
    const found = await spans(1);
    expect(found.map(({ trace: id }) => id)).toEqual([trace]);
  });

  test("a share of the traces", async () => {
    await settings({ "otel-sampler": "TraceIdRatioBased", "otel-sampler-ratio": "0.5", "otel-schedule-delay-millis": "200" });
    for (let i = 0; i < 200; i++) await ask("app.test");
    await settings({ "otel-sampler": "AlwaysOn" });
    await ask("app.test", "/shop");
    await eventually("the last one arrived", async () => collector!.spans.some(({ name }) => name === "/shop"));
    const share = collector!.spans.length - 1;
    expect(share).toBeGreaterThan(60);
    expect(share).toBeLessThan(140);
  });
});

describe("delivery", () => {
  test("a full batch goes at once, in deliveries of that size", async () => {
    await settings({ "otel-max-export-batch-size": "2", "otel-schedule-delay-millis": "600000" });
    for (let i = 0; i < 5; i++) await ask("app.test");
    await spans(4);
    await settings({ "otel-max-export-batch-size": "2" });
    await ask("app.test");
    const found = await spans(6);
    const sizes = found.map(({ delivery }) => found.filter((other) => other.delivery === delivery).length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2);
  });

  test("a full queue drops what comes then", async () => {
    await settings({ "otel-max-queuesize": "3", "otel-schedule-delay-millis": "3000" });
    for (const path of ["/1", "/2", "/3", "/4", "/5"]) await ask("app.test", path);
    const found = await spans(3);
    expect(found.map(({ attributes }) => attributes["http.target"])).toEqual(["/1", "/2", "/3"]);
    await ask("app.test", "/6");
    await eventually("the queue is empty again", async () => collector!.spans.some((s) => s.attributes["http.target"] === "/6"));
    expect(collector!.spans).toHaveLength(4);
  });

  test("spans wait for a collector that is away, and a finding says so", async () => {
    await settings();
    await collector!.stop();
    await ask("app.test", "/early");
    await eventually("a finding", async () => (await unsent()) !== undefined);
    collector = await Collector.start(port);
    const [span] = await spans(1);
    expect(span!.attributes["http.target"]).toBe("/early");
    await eventually("it is over", async () => (await unsent()) === undefined);
  });

  test("what a collector refuses for good is given up, and a finding says so", async () => {
    await settings();
    collector!.refusal = { code: 7, details: "not allowed here" };
    await ask("app.test", "/refused");
    await eventually("a finding", async () => (await unsent())?.includes("not allowed here") === true);
    collector!.refusal = undefined;
    await ask("app.test", "/taken");
    expect((await spans(1)).map(({ attributes }) => attributes["http.target"])).toEqual(["/taken"]);
    await eventually("it is over", async () => (await unsent()) === undefined);
  });

  test("without a collector traces are passed on, no span is kept, and a finding says so", async () => {
    await settings({ "otlp-collector-host": "" });
    const reply = await ask("app.test");
    expect(reply.status).toBe(200);
    expect(await unsent()).toContain("no span is kept");
    await settings({ "otlp-collector-host": "", "enable-opentelemetry": "false" });
    expect(await unsent()).toBeUndefined();
  });

  test("a worker that leaves delivers before it goes", async () => {
    await settings({ "otel-schedule-delay-millis": "600000" });
    await ask("app.test", "/last");
    const { reloads } = await controller.state();
    // none of the tests before needed one
    expect(reloads).toBe(0);
    await settings({ "otel-schedule-delay-millis": "600000", "worker-processes": "2" });
    expect((await controller.state()).reloads).toBe(1);
    expect((await spans(1)).map(({ attributes }) => attributes["http.target"])).toEqual(["/last"]);
  });

  test("a request that ends in a worker on its way out has its span", async () => {
    await settings();
    const { reloads } = await controller.state();
    const answer = ask("app.test", "/held");
    const [, response] = (await once(slow, "request")) as [unknown, ServerResponse];
    await settings({ "worker-processes": "3" });
    expect((await controller.state()).reloads).toBe(reloads + 1);
    response.end("late");
    expect((await answer).body).toBe("late");
    expect((await spans(1)).map(({ attributes }) => attributes["http.target"])).toEqual(["/held"]);
  });

  test("what was gathered is delivered when the controller ends", async () => {
    await settings({ "otel-schedule-delay-millis": "600000" });
    await ask("app.test", "/end");
    stopped = true;
    await controller.stop();
    expect(collector!.spans.map(({ attributes }) => attributes["http.target"])).toEqual(["/end"]);
  });
});
