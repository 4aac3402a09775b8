import { type AddressInfo, createServer, type Server } from "node:net";
import { afterEach, expect, test } from "vitest";
import { portProblems } from "../../../control/run/ports.ts";

const servers: Server[] = [];

async function busyPort(host: string): Promise<number> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return (server.address() as AddressInfo).port;
}

afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

test("a free port is free, also after it has been checked", async () => {
  const port = await busyPort("127.0.0.1");
  await new Promise((resolve) => servers.pop()!.close(resolve));
  const wanted = [{ flag: "http-port", host: "", port }];
  expect(await portProblems(wanted)).toEqual([]);
  expect(await portProblems(wanted)).toEqual([]);
});

test("a busy port is named with its flag, also when one address only holds it", async () => {
  const port = await busyPort("127.0.0.1");
  expect(await portProblems([{ flag: "status-port", host: "127.0.0.1", port }])).toEqual([
    `flag --status-port: port ${port} is already in use`,
  ]);
  expect(await portProblems([{ flag: "http-port", host: "0.0.0.0", port }])).toEqual([`flag --http-port: port ${port} is already in use`]);
});

test("two flags cannot have one port", async () => {
  const port = await busyPort("127.0.0.1");
  await new Promise((resolve) => servers.pop()!.close(resolve));
  const problems = await portProblems([
    { flag: "http-port", host: "", port },
    { flag: "https-port", host: "", port },
  ]);
  expect(problems).toEqual([`flags --http-port and --https-port both name port ${port}`]);
});
