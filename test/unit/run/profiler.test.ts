import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLogger } from "../../../control/run/logger.ts";
import { type ProfilerServer, startProfiler } from "../../../control/run/profiler.ts";

const log: string[] = [];
const logger = createLogger(0, { write: (line) => log.push(line) });
let server: ProfilerServer;

beforeEach(async () => {
  log.length = 0;
  server = (await startProfiler({ host: "127.0.0.1", port: 0, logger }))!;
});

afterEach(() => server.stop());

function get(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}/debug/pprof/${path}`, init);
}

/** Shows up in the profiles by its name. */
function keepBusy(until: () => boolean): Promise<readonly unknown[]> {
  const kept: unknown[] = [];
  return new Promise((resolve) => {
    const turn = () => {
      for (let i = 0; i < 2000; i++) kept.push({ text: `${i}`.repeat(20) });
      if (until()) resolve(kept);
      else setImmediate(turn);
    };
    turn();
  });
}

interface CpuProfile {
  readonly nodes: readonly { readonly callFrame: { readonly functionName: string } }[];
  readonly samples: readonly number[];
}

test("a CPU profile names the functions that ran", async () => {
  let ended = false;
  const busy = keepBusy(() => ended);
  const answer = await get("profile?seconds=0.5");
  const profile = (await answer.json()) as CpuProfile;
  ended = true;
  await busy;
  expect(answer.headers.get("content-disposition")).toContain(".cpuprofile");
  expect(profile.samples.length).toBeGreaterThan(0);
  expect(profile.nodes.map(({ callFrame }) => callFrame.functionName)).toContain("turn");
});

test("a heap profile names who allocated, and no value of theirs", async () => {
  let ended = false;
  const busy = keepBusy(() => ended);
  const text = await (await get("heap?seconds=0.5")).text();
  ended = true;
  expect((await busy).length).toBeGreaterThan(0);
  expect(JSON.parse(text)).toHaveProperty("head");
  expect(text).toContain('"functionName":"turn"');
  expect(text).not.toContain("1999".repeat(20));
});

test("one profile at a time; one whose client has gone is given up", async () => {
  const leaving = new AbortController();
  const first = get("profile?seconds=300", { signal: leaving.signal }).catch(() => undefined);
  let second = await get("heap?seconds=0.1");
  while (second.status === 200) second = await get("heap?seconds=0.1");
  expect(second.status).toBe(409);
  leaving.abort();
  await first;
  while (second.status === 409) second = await get("heap?seconds=0.1");
  expect(second.status).toBe(200);
  expect(log).toEqual([]);
});

test("memory, command line, what there is", async () => {
  const memory = (await (await get("heap?debug=1")).json()) as { readonly heap: { readonly used_heap_size: number } };
  expect(memory.heap.used_heap_size).toBeGreaterThan(0);
  expect((await (await get("cmdline")).text()).split("\0")[0]).toBe(process.argv[0]);
  expect(await (await get("")).text()).toContain("/debug/pprof/profile?seconds=30");
  expect((await get("goroutine")).status).toBe(404);
  for (const seconds of ["0", "-1", "x", "301"]) expect((await get(`profile?seconds=${seconds}`)).status).toBe(400);
  expect((await get("profile", { method: "POST" })).status).toBe(405);
});

test("a port that is taken is a warning", async () => {
  const other = createServer();
  await new Promise<void>((done) => other.listen(0, "127.0.0.1", done));
  const { port } = other.address() as AddressInfo;
  expect(await startProfiler({ host: "127.0.0.1", port, logger })).toBeUndefined();
  expect(log.join()).toContain("the profiler cannot listen");
  await new Promise((done) => other.close(done));
});
