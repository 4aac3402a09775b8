import { describe, expect, test } from "vitest";
import type { Expectation } from "../../cases/runner/case";
import { checkReplies, echoOf, isSeen, type PodLabels, type Timed } from "../../cases/runner/expectation";
import type { Seen } from "../../kit/fixtures/record";

const SEEN: Seen = {
  service: "echo",
  namespace: "default",
  pod: "echo-0",
  method: "GET",
  uri: "/a",
  http_version: "1.1",
  headers: { host: "app.test", "x-two": ["1", "2"] },
  body: "",
  tls: null,
};

function echo(change: Partial<Seen> = {}, status = 200): Timed {
  const body = Buffer.from(JSON.stringify({ ...SEEN, ...change }));
  return { outcome: { kind: "reply", reply: { status, headers: [["X-One", "1"]], body } }, elapsedMs: 5 };
}

function plain(status: number, text = "page"): Timed {
  return { outcome: { kind: "reply", reply: { status, headers: [], body: Buffer.from(text) } }, elapsedMs: 5 };
}

function failed(timedOut = false): Timed {
  return { outcome: { kind: "failed", failure: { reason: "closed", timedOut } }, elapsedMs: 5 };
}

function check(all: readonly Timed[], wanted: Expectation, labels: PodLabels = new Map()): readonly string[] {
  return checkReplies(all, wanted, labels);
}

describe("replies of a step", () => {
  test("an echo expectation passes on a matching reply and names each difference", () => {
    expect(
      check([echo()], { status: 200, headers: { "x-one": "1" }, echo: { service: "echo", headers: { "x-two": "2" }, tls: null } }),
    ).toEqual([]);
    const problems = check([echo()], { echo: { uri: "/b", headers: { host: { absent: true } }, tls: { sni: "x" } } });
    expect(problems).toHaveLength(3);
  });
  test("a page instead of an echo reply is a problem even with status 200", () => {
    expect(check([plain(200)], { status: 200, echo: { service: "echo" } })[0]).toContain("expected an echo reply");
  });
  test("where statuses are counted, only echo replies are looked into", () => {
    expect(check([echo(), plain(503)], { statuses: { "200": [1, 1], "503": [1, 1] }, echo: { service: "echo" } })).toEqual([]);
    expect(check([echo(), plain(503)], { statuses: { "200": [2, 2] } })).toEqual(["replies 200: expected 2 to 2, came 1"]);
  });
  test("a problem of several replies is told once with their number", () => {
    expect(check([plain(404), plain(404), plain(200)], { status: 200 })).toEqual(["status: expected 200, came 404 (2 of 3 replies)"]);
  });
  test("shares count by service, also those that never answered", () => {
    const all = [echo(), echo(), echo({ service: "echo-b" })];
    expect(check(all, { shares: { echo: [2, 2], "echo-b": [1, 1] } })).toEqual([]);
    expect(check(all, { shares: { "echo-canary": [1, 3] } })).toEqual(["replies of echo-canary: expected 1 to 3, came 0"]);
  });
  test("one pod, over steps by label", () => {
    const labels: PodLabels = new Map();
    expect(check([echo(), echo()], { same_pod: true })).toEqual([]);
    expect(check([echo(), echo({ pod: "echo-1" })], { same_pod: true })).toHaveLength(1);
    expect(check([plain(200)], { same_pod: true })).toHaveLength(1);
    expect(check([echo()], { same_pod: "a" }, labels)).toEqual([]);
    expect(check([echo({ pod: "echo-1" })], { same_pod: "b" }, labels)).toEqual([]);
    expect(check([echo({ pod: "echo-1" })], { same_pod: "a" }, labels)).toHaveLength(1);
  });
  test("pods are counted and each has its range", () => {
    const all = [echo(), echo(), echo({ pod: "echo-1" })];
    expect(check(all, { pods: { min: 2, max: 2, each: [1, 2] } })).toEqual([]);
    expect(check(all, { pods: { min: 3 } })).toHaveLength(1);
    expect(check(all, { pods: { each: [2, 2] } })).toEqual(["replies of default/echo-1: expected 2 to 2, came 1"]);
  });
  test("failed wants a refused or closed connection: neither a reply nor silence", () => {
    expect(check([failed()], { failed: true })).toEqual([]);
    expect(check([failed(true)], { failed: true })).toHaveLength(1);
    expect(check([plain(200)], { failed: true })).toHaveLength(1);
    expect(check([failed()], { status: 200 })[0]).toContain("expected a reply");
  });
  test("time and TLS are compared", () => {
    expect(check([echo()], { elapsed_ms: { min: 6 } })).toHaveLength(1);
    expect(check([echo()], { tls: { alpn: "h2" } })).toEqual(['tls.alpn: expected "h2", came nothing']);
  });
});

test("an echo reply is found behind chunk framing, as raw requests see it", () => {
  const json = JSON.stringify(SEEN);
  const body = Buffer.from(`${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`);
  expect(echoOf({ status: 200, headers: [["Transfer-Encoding", "chunked"]], body })?.uri).toBe("/a");
  expect(echoOf({ status: 200, headers: [], body: Buffer.from('{"a":1}') })).toBeUndefined();
});

test("saw matches what is named and ignores the rest", () => {
  expect(isSeen(SEEN, { service: "echo", count: [1, 1] })).toBe(true);
  expect(isSeen(SEEN, { service: "echo", count: [1, 1], uri: "/a", headers: { cookie: { absent: true } } })).toBe(true);
  expect(isSeen(SEEN, { service: "echo", count: [1, 1], method: "POST" })).toBe(false);
});
