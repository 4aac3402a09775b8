import { describe, expect, test } from "vitest";
import { answerQuery, clusterZone } from "../../kit/fixtures/dns-server";
import { RECORD, readParams, readRecords, writeRecord, writeStream } from "../../kit/fixtures/fastcgi-protocol";
import { firstMessage, frameMessage } from "../../kit/fixtures/grpc-echo";

function query(name: string, type: number): Buffer {
  const labels = name.split(".").flatMap((label) => [label.length, ...Buffer.from(label)]);
  return Buffer.from([0x12, 0x34, 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0, ...labels, 0, 0, type, 0, 1]);
}

describe("the name server", () => {
  const zone = new Map([["echo.default.svc.cluster.local", "10.20.100.1"]]);
  test("answers A with the address, whatever the case of the name", () => {
    const reply = answerQuery(query("Echo.default.svc.cluster.local", 1), zone)!;
    expect(reply.readUInt16BE(0)).toBe(0x1234);
    expect(reply[3]! & 0x0f).toBe(0);
    expect(reply.readUInt16BE(6)).toBe(1);
    expect([...reply.subarray(-4)]).toEqual([10, 20, 100, 1]);
  });
  test("answers AAAA of a known name without records, so that resolvers do not give up", () => {
    const reply = answerQuery(query("echo.default.svc.cluster.local", 28), zone)!;
    expect(reply[3]! & 0x0f).toBe(0);
    expect(reply.readUInt16BE(6)).toBe(0);
  });
  test("says NXDOMAIN for other names and FORMERR for garbage", () => {
    expect(answerQuery(query("nobody.test", 1), zone)![3]! & 0x0f).toBe(3);
    expect(answerQuery(Buffer.concat([query("a", 1).subarray(0, 12), Buffer.from([9, 9])]), zone)![3]! & 0x0f).toBe(1);
    expect(answerQuery(Buffer.from([1, 2]), zone)).toBeUndefined();
  });
  test("knows the services of both namespaces and the external one", () => {
    const all = clusterZone();
    expect(all.get("echo.other.svc.cluster.local")).not.toBe(all.get("echo.default.svc.cluster.local"));
    expect(all.get("external.default.svc.cluster.local")).toBe(all.get("echo-one.default.svc"));
  });
});

describe("FastCGI records", () => {
  test("split anywhere, they come out whole, padding skipped", () => {
    const padded = writeRecord(RECORD.stdin, 1, Buffer.from("hi"));
    padded[6] = 3;
    const data = Buffer.concat([padded, Buffer.alloc(3), writeRecord(RECORD.stdin, 1, Buffer.alloc(0))]);
    for (let cut = 0; cut <= data.length; cut++) {
      const first = readRecords(data.subarray(0, cut));
      const second = readRecords(Buffer.concat([first.rest, data.subarray(cut)]));
      expect([...first.records, ...second.records].map((one) => one.content.toString())).toEqual(["hi", ""]);
      expect(second.rest.length).toBe(0);
    }
  });
  test("long content is cut to what a record can hold and ends with an empty one", () => {
    const { records } = readRecords(writeStream(RECORD.stdout, 7, Buffer.alloc(70_000, "x")));
    expect(records.map((one) => one.content.length)).toEqual([65_535, 4465, 0]);
    expect(records.every((one) => one.id === 7)).toBe(true);
  });
  test("parameters with short and long lengths", () => {
    const long = "v".repeat(300);
    const size = Buffer.alloc(4);
    size.writeUInt32BE((0x80000000 | 300) >>> 0);
    const data = Buffer.concat([Buffer.from([1, 2]), Buffer.from("Aab"), Buffer.from([1]), size, Buffer.from(`B${long}`)]);
    expect({ ...readParams(data) }).toEqual({ A: "ab", B: long });
  });
});

test("a gRPC message is framed, and an incomplete one is none", () => {
  const frame = frameMessage(Buffer.from("hello"));
  expect(frame.subarray(0, 5).toString("hex")).toBe("0000000005");
  expect(firstMessage(frame)?.toString()).toBe("hello");
  expect(firstMessage(frame.subarray(0, 8))).toBeUndefined();
});
