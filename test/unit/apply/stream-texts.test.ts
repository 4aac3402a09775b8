import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { listensIn, takenTexts } from "../../../control/apply/stream-texts.ts";

test("ports of a text are those of its servers", () => {
  const text = `
    upstream x { server 127.0.0.1:1; }
    server { listen 9000; listen [::]:9001 udp; listen 127.0.0.1:9002 proxy_protocol; listen *:9003; return ok; }
    server { listen unix:/tmp/x; listen name.test:9004; listen 9005-9009; listen 9010 reuseport; return ok; }`;
  expect(listensIn(text)).toEqual([
    { protocol: "TCP", port: 9000, host: undefined },
    { protocol: "UDP", port: 9001, host: "::" },
    { protocol: "TCP", port: 9002, host: "127.0.0.1" },
    { protocol: "TCP", port: 9003, host: undefined },
  ]);
  expect(listensIn("server { listen 1")).toEqual([]);
});

test("a text with a port that somebody holds is named with the port", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const text = (address: string) => `server { listen ${address}${port}; return ok; }`;
  const texts = new Map([
    ["all", text("")],
    ["one", text("127.0.0.1:")],
    ["other", text("127.0.0.2:")],
    ["udp", `server { listen ${port} udp; return ok; }`],
  ]);
  const { taken, snippet } = await takenTexts(texts, text("*:"), undefined);
  const reason = `TCP port ${port} is in use`;
  expect([...taken]).toEqual([
    ["all", reason],
    ["one", reason],
  ]);
  expect(snippet).toBe(reason);
  server.close();
});
