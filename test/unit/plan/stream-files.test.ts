import { expect, test } from "vitest";
import { streamFiles } from "../../../control/plan/stream-files.ts";

function endpoints(port: string, ...addresses: readonly string[]) {
  return addresses.map((address) => ({ address, port }));
}

test("one address with a port is named as it is, several get a name of their own", () => {
  expect(streamFiles([]).service).toBe("");
  expect(streamFiles(endpoints("53", "10.0.0.1"))).toEqual({ service: "1 10.0.0.1:53", names: new Map() });
  expect(streamFiles(endpoints("53", "fd00::1")).service).toBe("1 [fd00::1]:53");
  const { service, names } = streamFiles([...endpoints("53", "10.0.0.1", "fd00::1"), ...endpoints("54", "10.0.0.2")]);
  const [name] = [...names.keys()] as [string];
  expect(service).toBe(`2 ${name}.sluice:53\n1 10.0.0.2:54`);
  expect(name).toMatch(/^[0-9a-f]{16}$/);
});

test("records hold the addresses, also of shortened IPv6", () => {
  const addresses = ["10.0.0.255", "::", "::1", "fd00::", "fd00:1::2:3", "1:2:3:4:5:6:7:8"];
  const [text] = [...streamFiles(endpoints("53", ...addresses)).names.values()] as [string];
  const [ipv4, ipv6] = text.split("\n") as [string, string];
  expect(ipv4).toBe("c00c0001000100000e1000040a0000ff");
  expect(ipv6.match(/.{56}/g)?.map((record) => record.slice(24))).toEqual([
    "00000000000000000000000000000000",
    "00000000000000000000000000000001",
    "fd000000000000000000000000000000",
    "fd000001000000000000000000020003",
    "00010002000300040005000600070008",
  ]);
});

test("more addresses than an answer holds are spread over several names", () => {
  const addresses = Array.from({ length: 250 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
  const { service, names } = streamFiles(endpoints("53", ...addresses));
  expect(service.split("\n").map((line) => Number.parseInt(line, 10))).toEqual([84, 83, 83]);
  expect(names.size).toBe(3);
  for (const text of names.values()) expect(text.length / 2).toBeLessThan(4096 - 41);
});
