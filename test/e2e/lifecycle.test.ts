import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { get, keepAliveAgent } from "../kit/client.ts";
import { Controller, eventually } from "../kit/controller.ts";
import { endpointSlices, ingress, ingressClass, service } from "../kit/manifests.ts";
import { isAlive, workersOf } from "../kit/worker-processes.ts";

let controller: Controller | undefined;
let backend: Server;
/** Requests for /held, answered when a test says so. */
let held: ServerResponse[];

beforeEach(async () => {
  held = [];
  backend = createServer((seen, answer) => {
    if (seen.url === "/held") held.push(answer);
    else answer.end("here");
  });
  backend.on("upgrade", (_seen, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    socket.pipe(socket);
  });
  await new Promise<void>((done) => backend.listen(0, "127.0.0.1", done));
});

afterEach(async () => {
  await controller?.stop();
  controller = undefined;
  backend.closeAllConnections();
  await new Promise((done) => backend.close(done));
});

async function start(...flags: readonly string[]): Promise<Controller> {
  const created = await Controller.create(flags);
  controller = created;
  const { port } = backend.address() as AddressInfo;
  const objects = [ingressClass, service("app"), ...endpointSlices("app", [{ address: "127.0.0.1", port }])];
  created.write("all.json", [...objects, ingress("app", { host: "app.test" })]);
  await created.start();
  return created;
}

async function health(of: Controller): Promise<string> {
  const answer = await fetch(of.url("/healthz/nginx-ingress-controller"));
  return `${answer.status} ${await answer.text()}`;
}

/** Resolves with a WebSocket's connection once it is one. */
async function openWebSocket(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  const head = "GET /socket HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n";
  socket.write(head);
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 101 /);
  return socket;
}

async function echo(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [answer] = (await once(socket, "data")) as [Buffer];
  return answer.toString();
}

function refused(port: number): Promise<boolean> {
  return get({ port, host: "app.test" }).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === "ECONNREFUSED",
  );
}

test("a stop signal drains: idle connections are closed, requests and WebSockets end in their own time", { timeout: 120_000 }, async () => {
  const running = await start();
  const { http } = running.ports;
  const { nginxPid } = await running.state();
  const idle = connect(http, "127.0.0.1");
  idle.write("GET / HTTP/1.1\r\nHost: app.test\r\n\r\n");
  const [first] = (await once(idle, "data")) as [Buffer];
  expect(first.toString()).not.toMatch(/^connection: close/im);
  const idleEnds = once(idle, "end");
  const webSocket = await openWebSocket(http);
  const agent = keepAliveAgent(false);
  const slow = request({ host: "127.0.0.1", port: http, path: "/held", headers: { host: "app.test" }, agent });
  const answered = once(slow, "response") as Promise<[IncomingMessage]>;
  slow.end();
  await eventually("the slow request has reached the backend", () => held.length === 1);

  process.kill(running.pid, "SIGTERM");
  await idleEnds;
  await eventually("new connections are refused", () => refused(http));
  expect(await health(running)).toMatch(/^500 .*shutting down/);
  expect(await echo(webSocket, "still there?")).toBe("still there?");
  held[0]!.end("late");
  const [answer] = await answered;
  expect(answer.statusCode).toBe(200);
  expect(answer.headers.connection).toBe("close");
  answer.resume();
  agent.destroy();
  expect(await echo(webSocket, "and now?")).toBe("and now?");
  expect(isAlive(nginxPid)).toBe(true);
  expect(isAlive(running.pid)).toBe(true);
  webSocket.destroy();
  await eventually("nginx and the controller have ended", () => !isAlive(nginxPid) && !isAlive(running.pid));
});

test("a WebSocket that does not end is cut off after worker-shutdown-timeout", { timeout: 120_000 }, async () => {
  const running = await start();
  await running.apply("settings.json", [
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "sluice", namespace: "default" }, data: { "worker-shutdown-timeout": "1s" } },
  ]);
  const webSocket = await openWebSocket(running.ports.http);
  const closed = once(webSocket, "close");
  process.kill(running.pid, "SIGTERM");
  await closed;
  await eventually("the controller has ended", () => !isAlive(running.pid));
});

test("--shutdown-grace-period: not ready any more, and serving new connections", { timeout: 120_000 }, async () => {
  const running = await start("--shutdown-grace-period=3600");
  process.kill(running.pid, "SIGTERM");
  await eventually("the pod is not ready", async () => (await health(running)).startsWith("500"));
  for (let i = 0; i < 20; i++) expect((await get({ port: running.ports.http, host: "app.test" })).body).toBe("here");
  // Changes are still taken in: other pods may take their leave at the same time.
  await running.apply("late.json", [ingress("late", { host: "late.test", paths: { "/": "app" } })]);
  expect((await get({ port: running.ports.http, host: "late.test" })).body).toBe("here");
  await running.kill();
});

test("--shutdown-grace-period passes", { timeout: 120_000 }, async () => {
  const running = await start("--shutdown-grace-period=1");
  process.kill(running.pid, "SIGTERM");
  await eventually("the controller has ended", () => !isAlive(running.pid));
  expect(await refused(running.ports.http)).toBe(true);
});

test("--post-shutdown-grace-period: nginx has ended, the controller is still there", { timeout: 120_000 }, async () => {
  const running = await start("--post-shutdown-grace-period=3600");
  const { nginxPid } = await running.state();
  process.kill(running.pid, "SIGTERM");
  await eventually("nginx has ended", () => !isAlive(nginxPid));
  expect(await refused(running.ports.http)).toBe(true);
  expect(await health(running)).toMatch(/^500 /);
  await running.kill();
});

test("/healthz fails while nginx does not answer, and passes again", { timeout: 120_000 }, async () => {
  const running = await start();
  expect(await health(running)).toBe("200 ok");
  const { nginxPid } = await running.state();
  const workers = workersOf(nginxPid);
  for (const pid of workers) process.kill(pid, "SIGSTOP");
  try {
    await eventually("the check fails", async () => (await health(running)).startsWith("500"));
  } finally {
    for (const pid of workers) process.kill(pid, "SIGCONT");
  }
  await eventually("the check passes", async () => (await health(running)) === "200 ok");
});

test("profiles are offered on --profiler-port, unless --profiling=false", { timeout: 120_000 }, async () => {
  const running = await start();
  const profile = (await (await fetch(`http://127.0.0.1:${running.ports.profiler}/debug/pprof/profile?seconds=0.2`)).json()) as object;
  expect(Object.keys(profile)).toEqual(expect.arrayContaining(["nodes", "samples"]));
  await running.stop();
  const without = await start("--profiling=false");
  await expect(fetch(`http://127.0.0.1:${without.ports.profiler}/debug/pprof/`)).rejects.toThrow();
});

test("-v shows what people look for", { timeout: 120_000 }, async () => {
  const running = await start("-v=5");
  const port = (backend.address() as AddressInfo).port;
  const line = (pattern: RegExp) => eventually(`a line ${pattern}`, () => running.log.some((one) => pattern.test(one)));
  await line(/\] syncing hosts=\d+ backends=\d+ certificates=\d+$/);
  await line(/\] Creating upstream upstream="default-app-http"$/);
  await line(/\] Getting Endpoints from endpointSlices for Service service="default\/app" port="http"$/);
  await line(new RegExp(`\\] Endpoints found for Service service="default/app" .*endpoints=\\["127\\.0\\.0\\.1:${port}"\\]$`));
  await line(/\] Event received type="UPDATE" kind="Ingress" object="default\/app" content="\{.*app\.test.*\}"$/);
  await running.apply("settings.json", [
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "sluice", namespace: "default" }, data: { "keep-alive": "70" } },
  ]);
  await line(/\] reloading nginx reason=/);
  await running.apply("all.json", [ingressClass]);
  await line(/\] Event received type="DELETE" kind="Ingress" object="default\/app"$/);
});
