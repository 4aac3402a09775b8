import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { freePorts } from "../../build/free-ports.ts";
import { Controller } from "../kit/controller.ts";
import type { KubeObject } from "../kit/fixtures/objects.ts";
import { ingressClass } from "../kit/manifests.ts";
import { withModulesBut } from "../kit/nginx-modules.ts";
import { askTcp, askUdp, type StreamPods, startStreamPods } from "../kit/stream-pods.ts";

const udpAddresses = ["127.42.0.1", "127.42.0.2", "127.42.0.3"];
const flags = ["--tcp-services-configmap=default/tcp", "--udp-services-configmap=default/udp"];

let controller: Controller;
let pods: StreamPods;
/** Opened by nginx. */
let port: number;
/** Nobody listens there unless the test says so. */
let deaf: number;

beforeEach(async () => {
  const [a, b, c] = (await freePorts(3)) as [number, number, number];
  [port, deaf] = [a, b];
  pods = await startStreamPods(c, udpAddresses);
});

afterEach(async () => {
  await controller?.stop();
  pods?.stop();
});

async function start(more: readonly string[], beginning: readonly string[]): Promise<void> {
  controller = await Controller.create([...flags, ...more]);
  const ports = [
    { name: "tcp", port: 53, targetPort: "tcp", protocol: "TCP" },
    { name: "udp", port: 53, targetPort: "udp", protocol: "UDP" },
  ];
  controller.write("all.json", [
    ingressClass,
    ...["tcp", "udp"].map((name) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace: "default" },
      data: { [port]: "default/game:53" },
    })),
    { apiVersion: "v1", kind: "Service", metadata: { name: "game", namespace: "default" }, spec: { type: "ClusterIP", ports } },
  ]);
  controller.write("slices.json", slices(beginning));
  await controller.start();
}

/** One slice for each address family. */
function slices(addresses: readonly string[], target = pods.port): readonly KubeObject[] {
  return ["IPv4", "IPv6"].map((addressType) => ({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: `game-${addressType.toLowerCase()}-${target}`,
      namespace: "default",
      labels: { "kubernetes.io/service-name": "game" },
    },
    addressType,
    ports: ["TCP", "UDP"].map((protocol) => ({ name: protocol.toLowerCase(), port: target, protocol })),
    endpoints: addresses
      .filter((address) => address.includes(":") === (addressType === "IPv6"))
      .map((address) => ({ addresses: [address], conditions: { ready: true, serving: true, terminating: false } })),
  }));
}

async function tcpAnswers(count: number): Promise<readonly string[]> {
  const answers = new Set<string>();
  for (let i = 0; i < count; i++) answers.add(await askTcp(port));
  return [...answers].sort();
}

/** Asks until all these, and no others, have answered. */
async function expectAnswersOf(addresses: readonly string[]): Promise<void> {
  const seen = new Set<string>();
  while (seen.size < addresses.length) {
    const answer = await askTcp(port);
    expect(addresses).toContain(answer);
    seen.add(answer);
  }
}

test("endpoints of TCP and UDP services change without a reload", { timeout: 240_000 }, async () => {
  await start([], ["127.42.0.1"]);
  const before = await controller.state();
  expect(before.streamEndpoints).toBe("live");
  expect(await askTcp(port)).toBe("127.42.0.1");
  expect(await askUdp(port)).toBe("127.42.0.1");
  const sets = [["127.42.0.2", "127.42.0.3"], ["127.42.0.3"], udpAddresses, ["127.42.0.2"], ["127.42.0.1", "127.42.0.2"]];
  for (const addresses of sets) {
    await controller.apply("slices.json", slices(addresses));
    await expectAnswersOf(addresses);
    expect(addresses).toContain(await askUdp(port));
  }
  await controller.apply("slices.json", slices([]));
  expect(await tcpAnswers(5)).toEqual([""]);
  await controller.apply("slices.json", slices(["::1", "127.42.0.2"]));
  await expectAnswersOf(["::1", "127.42.0.2"]);
  await controller.apply("slices.json", slices(["::1"]));
  expect(await tcpAnswers(5)).toEqual(["::1"]);
  const many = Array.from({ length: 230 }, (_, i) => `127.42.7.${i + 1}`);
  await controller.apply("slices.json", slices(many));
  const answers = await tcpAnswers(60);
  expect(answers.length).toBeGreaterThan(30);
  expect(many).toEqual(expect.arrayContaining([...answers]));
  const after = await controller.state();
  expect(after.reloads).toBe(before.reloads);
  expect(after.nginxPid).toBe(before.nginxPid);
});

test("an endpoint that refuses is passed over for another one with the same port", { timeout: 120_000 }, async () => {
  await start([], ["127.42.0.1"]);
  const { reloads } = await controller.state();
  const half = await startStreamPods(deaf, [], "127.42.0.2");
  await controller.apply("slices.json", slices(["127.42.0.1", "127.42.0.2", "127.42.0.3"], deaf));
  expect(await tcpAnswers(20)).toEqual(["127.42.0.2"]);
  half.stop();
  // no name has two ports, so nginx has nothing else to try
  await controller.apply("slices.json", [...slices(["127.42.0.2"]), ...slices(["127.42.0.3"], deaf)]);
  expect(await tcpAnswers(30)).toEqual(["", "127.42.0.2"]);
  expect((await controller.state()).reloads).toBe(reloads);
});

test("ports of TCP and UDP services are opened again after a kill -9 of nginx", { timeout: 120_000 }, async () => {
  await start([], ["127.42.0.1"]);
  await controller.killNginx();
  expect(await tcpAnswers(25)).toEqual(["127.42.0.1"]);
  expect(await askUdp(port)).toBe("127.42.0.1");
});

test("no connection fails while endpoints change all the time", { timeout: 120_000 }, async () => {
  await start([], ["127.42.0.1", "127.42.0.2"]);
  let changing = true;
  const answered: string[] = [];
  const client = async (): Promise<void> => {
    while (changing) answered.push(await askTcp(port));
  };
  const clients = Promise.all([client(), client(), client(), client()]);
  for (let i = 0; i < 60; i++)
    await controller.apply("slices.json", slices(["127.42.0.1", `127.42.0.${3 + i}`, `127.42.1.${3 + i}`].slice(i % 3)));
  changing = false;
  await clients;
  expect(answered.filter((answer) => answer === "")).toEqual([]);
  expect(new Set(answered).size).toBeGreaterThan(3);
});

test("a new controller goes on with the nginx that runs", { timeout: 120_000 }, async () => {
  await start([], ["127.42.0.1", "127.42.0.2"]);
  const { nginxPid } = await controller.state();
  await controller.kill();
  expect(await askTcp(port)).toMatch(/^127\.42\.0\.[12]$/);
  await controller.start();
  const taken = await controller.state();
  expect([taken.nginxPid, taken.reloads, taken.streamEndpoints]).toEqual([nginxPid, 0, "live"]);
  await controller.apply("slices.json", slices(["127.42.0.3"]));
  expect(await tcpAnswers(5)).toEqual(["127.42.0.3"]);
});

test("without njs each change of endpoints reloads", { timeout: 120_000 }, async () => {
  await withModulesBut("_js_", async (folder) => {
    await start([`--nginx-modules=${folder}`, "--sync-rate-limit=100"], ["127.42.0.1"]);
    const before = await controller.state();
    expect(before.streamEndpoints).toBe("reload");
    expect(controller.log.join("\n")).toContain("libnginx-mod-stream-js");
    await controller.apply("slices.json", slices(["127.42.0.2", "127.42.0.3"]));
    await expectAnswersOf(["127.42.0.2", "127.42.0.3"]);
    expect((await controller.state()).reloads).toBe(before.reloads + 1);
    expect(readFileSync(resolve(controller.runtimeDir, "private/nginx.conf"), "utf8")).not.toContain("js_import");
  });
});
