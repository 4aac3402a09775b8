import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { withoutTakenPorts } from "../../../control/apply/stream-ports.ts";
import type { Finding } from "../../../control/model/finding.ts";
import type { StreamServer } from "../../../control/model/stream.ts";

test("a port that somebody else holds is left out with a finding; one that nginx holds itself stays", async () => {
  const tcp = createServer().listen(0, "127.0.0.1");
  await once(tcp, "listening");
  const udp = createSocket("udp4").bind(0, "127.0.0.1");
  await once(udp, "listening");
  const server = (protocol: "TCP" | "UDP", port: number): StreamServer => ({
    protocol,
    port,
    decode: false,
    encode: false,
    endpoints: ["127.0.0.1:1"],
  });
  const taken = [server("TCP", (tcp.address() as AddressInfo).port), server("UDP", udp.address().port)];
  const findings: Finding[] = [];
  expect((await withoutTakenPorts({ servers: taken, passthroughs: [] }, [], findings)).servers).toEqual([]);
  expect(findings.map((f) => f.code)).toEqual(["port-taken", "port-taken"]);
  expect((await withoutTakenPorts({ servers: taken, passthroughs: [] }, taken, findings)).servers).toEqual(taken);
  tcp.close();
  udp.close();
});
