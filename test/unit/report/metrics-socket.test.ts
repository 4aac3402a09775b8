import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listenForMetrics } from "../../../control/report/metrics-socket.ts";
import { createLogger } from "../../../control/run/logger.ts";
import { endOfDelivery, type MetricsLine } from "../../../lua-src/wire.ts";

const line: MetricsLine = ["app.test", "default", "web", "app", "/", "", "GET", 200, [0, 1]];

function deliver(path: string, name: string): Promise<string> {
  return new Promise((done, failed) => {
    let answer = "";
    const socket = connect(path, () => socket.write(`${JSON.stringify(line)}\n${endOfDelivery}${name}\n`));
    socket.setEncoding("utf8").on("data", (text: string) => {
      answer += text;
    });
    socket.once("end", () => done(answer)).once("error", failed);
  });
}

test("what a worker sends once more, because it had no answer in time, is answered and counts once", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-metrics-"));
  let taken = 0;
  const path = join(dir, "metrics.sock");
  const take = () => {
    taken++;
  };
  const socket = await listenForMetrics({ path, user: undefined, logger: createLogger(0), take });
  expect(await Promise.all(["7 1", "7 1", "8 1"].map((name) => deliver(path, name)))).toEqual(["ok\n", "ok\n", "ok\n"]);
  expect(await deliver(path, "7 1")).toBe("ok\n");
  expect(taken).toBe(2);
  await deliver(path, "7 2");
  expect(taken).toBe(3);
  await socket.stop();
  rmSync(dir, { recursive: true });
});
