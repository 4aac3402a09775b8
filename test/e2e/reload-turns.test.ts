/** While a reload waits for its turn, all that needs none is applied. */
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { freePorts } from "../../build/free-ports.ts";
import { get } from "../kit/client.ts";
import { Controller, eventually } from "../kit/controller.ts";
import { configMap, endpointSlices, ingress, ingressClass, service } from "../kit/manifests.ts";
import { type Pods, startPods } from "../kit/pods.ts";
import { askTcp } from "../kit/stream-pods.ts";

let controller: Controller;
let pods: Pods;

beforeEach(async () => {
  pods = await startPods({ "app-a": 1, "app-b": 1 });
});

afterEach(async () => {
  await controller?.stop();
  await pods?.stop();
});

async function start(flags: readonly string[], settings: Readonly<Record<string, string>> = {}): Promise<void> {
  controller = await Controller.create(flags);
  controller.write("all.json", [
    ingressClass,
    service("app-a"),
    service("app-b"),
    ...endpointSlices("app-b", pods.of("app-b")),
    ingress("web", { host: "web.test", paths: { "/": "app-a" } }),
  ]);
  controller.write("config.json", [configMap(settings)]);
  controller.write("slices.json", endpointSlices("app-a", pods.of("app-a")));
  await controller.start();
}

function answers(host: string, app: string | undefined): Promise<void> {
  return eventually(`${host} is answered by ${app}`, async () => (await get({ port: controller.ports.http, host })).app === app);
}

function tcpServices(ports: readonly number[]): void {
  const data = Object.fromEntries(ports.map((port) => [port, "default/app-a:http"]));
  controller.write("tcp.json", [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "tcp", namespace: "default" }, data }]);
}

test("a new TCP port waits for --sync-rate-limit; endpoints, hosts and paths do not", { timeout: 120_000 }, async () => {
  // one reload in three hours
  await start(["--tcp-services-configmap=default/tcp", "--sync-rate-limit=0.0001"]);
  const [first, second] = (await freePorts(2)) as [number, number];
  tcpServices([first]);
  await eventually("the first port is open", async () => (await controller.state()).reloads === 1);
  tcpServices([first, second]);
  controller.write("more.json", [ingress("more", { host: "more.test", paths: { "/": "app-b" } })]);
  await answers("more.test", "app-b");
  controller.write("slices.json", endpointSlices("app-a", pods.of("app-b")));
  await answers("web.test", "app-b");
  // needs a new combination of settings, so it waits, and what is beside it does not
  controller.write("held.json", [
    ingress("held", { host: "held.test", paths: { "/": "app-b" }, annotations: { "proxy-buffering": "on", "proxy-buffer-size": "24k" } }),
    ingress("beside", { host: "beside.test", paths: { "/": "app-b" } }),
  ]);
  await answers("beside.test", "app-b");
  expect((await get({ port: controller.ports.http, host: "held.test" })).status).toBe(404);
  controller.write("more.json", []);
  await answers("more.test", undefined);
  expect(await askTcp(second)).toBe("");
  expect((await controller.state()).reloads).toBe(1);
});

/** An upstream that answers when told. */
async function slowUpstream(): Promise<{ readonly server: Server; readonly asked: Promise<unknown>; readonly answer: () => void }> {
  let answer = (): void => undefined;
  const server = createServer((_, response) => {
    answer = () => void response.end("done");
    server.emit("asked");
  });
  const asked = once(server, "asked");
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, asked, answer: () => answer() };
}

test("enable-serial-reloads: no reload while workers of the conf before are at work; all else goes on", { timeout: 120_000 }, async () => {
  await start(["--sync-rate-limit=100"], { "enable-serial-reloads": "true" });
  const slow = await slowUpstream();
  const address = { address: "127.0.0.1", port: (slow.server.address() as AddressInfo).port };
  await controller.apply("slow.json", [
    service("slow"),
    ...endpointSlices("slow", [address]),
    ingress("slow", { host: "slow.test", paths: { "/": "slow" } }),
  ]);
  const call = request({ port: controller.ports.http, host: "127.0.0.1", headers: { host: "slow.test" } }).end();
  const answered = once(call, "response");
  await slow.asked;
  const { reloads } = await controller.state();
  await controller.apply("config.json", [configMap({ "enable-serial-reloads": "true", "keep-alive": "71" })]);
  expect((await controller.state()).reloads).toBe(reloads + 1);

  const last = controller.write("config.json", [configMap({ "enable-serial-reloads": "true", "keep-alive": "72" })]);
  controller.write("slices.json", endpointSlices("app-a", pods.of("app-b")));
  await answers("web.test", "app-b");
  expect((await controller.state()).reloads).toBe(reloads + 1);
  slow.answer();
  await answered;
  await controller.waitApplied(last);
  expect((await controller.state()).reloads).toBe(reloads + 2);
  slow.server.close();
});

test("stream snippets with a port that something else holds are left out at once, with a finding each", { timeout: 120_000 }, async () => {
  const settings = { "allow-snippet-annotations": "true", "annotations-risk-level": "Critical" };
  await start(["--sync-rate-limit=100"], settings);
  const [free] = (await freePorts(1)) as [number];
  const other = createServer().listen(0, "0.0.0.0");
  await once(other, "listening");
  const { port: busy } = other.address() as AddressInfo;
  const text = (port: number, word: string) => `server { listen ${port}; return ${word}; }`;
  const annotated = (name: string, snippet: string) =>
    ingress(name, { host: `${name}.test`, paths: { "/": "app-b" }, annotations: { "stream-snippet": snippet } });
  await controller.apply("busy.json", [annotated("busy", text(busy, "busy")), annotated("fine", text(free, "fine"))]);
  expect(await askTcp(free)).toBe("fine");
  await answers("fine.test", "app-b");
  await controller.apply("config.json", [configMap({ ...settings, "stream-snippet": text(busy, "busy"), "keep-alive": "70" })]);
  const found = (await controller.findings()).filter((f) => f.code === "config-refused");
  expect(found.map((f) => [f.object, f.at])).toEqual(
    expect.arrayContaining([
      ["Ingress default/busy", "metadata.annotations[stream-snippet]"],
      ["ConfigMap default/sluice", "data.stream-snippet"],
    ]),
  );
  for (const { text } of found) expect(text).toContain(`TCP port ${busy} is in use`);
  // both reloads were done at the first go
  expect((await controller.state()).reloadReasons.map((reload) => reload.ok)).toEqual([true, true]);
  expect(await askTcp(free)).toBe("fine");
  other.close();
  await once(other, "close");
  await controller.apply("busy.json", [annotated("fine", text(free, "fine"))]);
  expect(await askTcp(busy)).toBe("busy");
});
