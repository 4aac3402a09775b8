import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listenForMetrics } from "../../../control/report/metrics-socket.ts";
import { listenForSpans } from "../../../control/report/span-socket.ts";
import { createLogger } from "../../../control/run/logger.ts";
import { endOfDelivery, type MetricsLine } from "../../../lua-src/wire.ts";

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "sluice-sockets-"));
});

afterEach(() => rmSync(dir, { recursive: true }));

function options() {
  return { path: join(dir, "a.sock"), user: undefined, logger: createLogger(0) };
}

/** What is answered until the end. */
function deliver(path: string, text: string): Promise<string> {
  return new Promise((done, failed) => {
    let answer = "";
    const socket = connect(path, () => socket.write(text));
    socket.setEncoding("utf8").on("data", (part: string) => {
      answer += part;
    });
    socket.once("end", () => done(answer)).once("error", failed);
  });
}

test("metrics that a worker sends once more, because it had no answer in time, are answered and count once", async () => {
  let taken = 0;
  const take = () => {
    taken++;
  };
  const { path } = options();
  const socket = await listenForMetrics({ ...options(), take });
  const line: MetricsLine = ["app.test", "default", "web", "app", "/", "", "GET", 200, [0, 1]];
  const send = (name: string) => deliver(path, `${JSON.stringify(line)}\n${endOfDelivery}${name}\n`);
  expect(await Promise.all(["7 1", "7 1", "8 1"].map(send))).toEqual(["ok\n", "ok\n", "ok\n"]);
  expect(await send("7 1")).toBe("ok\n");
  expect(taken).toBe(2);
  await send("7 2");
  expect(taken).toBe(3);
  await socket.stop();
});

test("spans too, once there was room for them", async () => {
  const taken: string[] = [];
  let room = false;
  const take = (count: number, spans: Buffer) => {
    if (room) taken.push(`${count} ${spans.toString()}`);
    return room;
  };
  const { path } = options();
  const socket = await listenForSpans({ ...options(), take });
  const send = (name: string) => deliver(path, `2 5 ${name}\nab\nc\n`);
  expect(await send("7 1")).toBe("no room\n");
  room = true;
  expect([await send("7 1"), await send("7 1"), await send("8 1")]).toEqual(["ok\n", "ok\n", "ok\n"]);
  expect(taken).toEqual(["2 ab\nc\n", "2 ab\nc\n"]);
  await socket.stop();
});
