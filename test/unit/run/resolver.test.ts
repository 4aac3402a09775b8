import { createSocket, type Socket } from "node:dgram";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Clock } from "../../../control/run/clock.ts";
import { createLogger } from "../../../control/run/logger.ts";
import { candidates, parseResolvConf } from "../../../control/run/resolv-conf.ts";
import { NameResolver } from "../../../control/run/resolver.ts";

/** name/type → addresses; absent: NXDOMAIN. */
let zone: Record<string, { readonly addresses: readonly string[]; readonly ttl: number }>;
let queries: string[];
let socket: Socket;
let resolver: NameResolver;
let changes: (readonly string[])[];
let waits: { readonly ms: number; readonly go: () => void }[];
let waiting: (() => void)[];

const clock: Clock = {
  now: () => Date.now(),
  pause: (ms, signal) =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve());
      waits.push({ ms, go: resolve });
      wake();
    }),
};

function wake(): void {
  for (const check of [...waiting]) check();
}

function until(condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (!condition()) return;
      waiting = waiting.filter((other) => other !== check);
      resolve();
    };
    waiting.push(check);
    check();
  });
}

/** Answers one question of class IN, type A or AAAA. */
function reply(query: Buffer): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (; query[at] !== 0; at += query[at]! + 1) labels.push(query.toString("latin1", at + 1, at + 1 + query[at]!));
  const end = at + 5;
  const type = query.readUInt16BE(at + 1) === 1 ? "A" : "AAAA";
  const key = `${labels.join(".").toLowerCase()}/${type}`;
  queries.push(key);
  const found = zone[key];
  const exists = found !== undefined || Object.keys(zone).some((other) => other.startsWith(`${key.split("/")[0]}/`));
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180 | (exists ? 0 : 3), 2);
  header.writeUInt16BE(found?.addresses.length ?? 0, 6);
  header.writeUInt32BE(0, 8);
  const records = (found?.addresses ?? []).map((address) => {
    const data =
      type === "A"
        ? Buffer.from(address.split(".").map(Number))
        : Buffer.from(address.split(":").flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255]));
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type === "A" ? 1 : 28, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(found!.ttl, 6);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([header, query.subarray(12, end), ...records]);
}

beforeEach(async () => {
  zone = {};
  queries = [];
  changes = [];
  waits = [];
  waiting = [];
  socket = createSocket("udp4");
  socket.on("message", (message, from) => socket.send(reply(message), from.port, from.address));
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  resolver = new NameResolver({
    conf: { nameservers: [`127.0.0.1:${socket.address().port}`], search: ["ns.svc.local", "svc.local"], ndots: 2 },
    logger: createLogger(0, { write: () => {} }),
    clock,
    onChange: (names) => {
      changes.push([...names].sort());
      wake();
    },
  });
});

afterEach(async () => {
  resolver.stop();
  await new Promise<void>((resolve) => socket.close(() => resolve()));
});

test("A first, sorted, asked again when it expires, told only when it changed", async () => {
  zone["a.b.test/A"] = { addresses: ["10.0.0.2", "10.0.0.1"], ttl: 30 };
  zone["a.b.test/AAAA"] = { addresses: ["fd00:0:0:0:0:0:0:1"], ttl: 30 };
  resolver.watchNames(new Set(["a.b.test"]));
  expect(resolver.isPending("a.b.test")).toBe(true);
  await until(() => changes.length === 1 && waits.length === 1);
  expect(resolver.addressesOf("a.b.test")).toEqual(["10.0.0.1", "10.0.0.2"]);
  expect(queries).toEqual(["a.b.test/A"]);
  expect(waits[0]!.ms).toBe(30_000);
  zone["a.b.test/A"] = { addresses: ["10.0.0.1", "10.0.0.2"], ttl: 30 };
  waits[0]!.go();
  await until(() => waits.length === 2);
  expect(changes).toHaveLength(1);
  zone["a.b.test/A"] = { addresses: ["10.0.0.3"], ttl: 30 };
  waits[1]!.go();
  await until(() => changes.length === 2);
  expect(resolver.addressesOf("a.b.test")).toEqual(["10.0.0.3"]);
});

test("AAAA where there is no A", async () => {
  zone["a.b.test/AAAA"] = { addresses: ["fd00:0:0:0:0:0:0:1"], ttl: 0 };
  resolver.watchNames(new Set(["a.b.test"]));
  await until(() => changes.length === 1 && waits.length === 1);
  expect(resolver.addressesOf("a.b.test")).toEqual(["fd00::1"]);
  expect(waits[0]!.ms).toBe(1000);
});

test("a short name is completed first; a dot at the end prevents it", async () => {
  zone["web.svc.local/A"] = { addresses: ["10.0.0.1"], ttl: 5 };
  zone["web/A"] = { addresses: ["10.0.0.9"], ttl: 5 };
  resolver.watchNames(new Set(["web", "web."]));
  await until(() => waits.length === 2 && changes.flat().length === 2);
  expect(resolver.addressesOf("web")).toEqual(["10.0.0.1"]);
  expect(resolver.addressesOf("web.")).toEqual(["10.0.0.9"]);
});

test("the last good answer is kept, and failures are retried ever more rarely", async () => {
  zone["a.b.test/A"] = { addresses: ["10.0.0.1"], ttl: 5 };
  resolver.watchNames(new Set(["a.b.test"]));
  await until(() => waits.length === 1);
  zone = {};
  for (let i = 0; i < 6; i++) {
    waits[i]!.go();
    await until(() => waits.length === i + 2);
  }
  expect(waits.slice(1).map(({ ms }) => ms)).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000]);
  expect(resolver.addressesOf("a.b.test")).toEqual(["10.0.0.1"]);
});

test("a name that never resolved is told once, so that nobody waits for it", async () => {
  resolver.watchNames(new Set(["gone.b.test"]));
  await until(() => changes.length === 1);
  expect(resolver.addressesOf("gone.b.test")).toBeUndefined();
  expect(resolver.isPending("gone.b.test")).toBe(false);
});

test("addresses need no question, and names that go are forgotten", async () => {
  zone["a.b.test/A"] = { addresses: ["10.0.0.1"], ttl: 5 };
  resolver.watchNames(new Set(["10.1.2.3", "fd00::2", "a.b.test"]));
  expect(resolver.addressesOf("10.1.2.3")).toEqual(["10.1.2.3"]);
  await until(() => waits.length === 1);
  resolver.watchNames(new Set(["fd00::2"]));
  expect(resolver.addressesOf("a.b.test")).toBeUndefined();
  expect(resolver.addressesOf("fd00::2")).toEqual(["fd00::2"]);
  expect(queries.every((query) => query.startsWith("a.b.test/"))).toBe(true);
});

test("resolv.conf", () => {
  const conf = parseResolvConf(
    "# x\nnameserver 10.0.0.10\nnameserver ::1 ; y\nsearch old\nsearch a.local b.local.\noptions edns0 ndots:5\n",
  );
  expect(conf).toEqual({ nameservers: ["10.0.0.10", "::1"], search: ["a.local", "b.local"], ndots: 5 });
  expect(candidates("x.y", conf)).toEqual(["x.y.a.local", "x.y.b.local", "x.y"]);
  expect(candidates("x.y", { ...conf, ndots: 1 })).toEqual(["x.y", "x.y.a.local", "x.y.b.local"]);
  expect(candidates("x.", conf)).toEqual(["x"]);
});
