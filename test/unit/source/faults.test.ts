import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Authority } from "../../kit/authority.ts";
import { type Call, type FakeApi, fail } from "../../kit/fake-api.ts";
import { all, Following, map, maps } from "./following.ts";
import type { Recorder } from "./recorder.ts";

let following: Following;
let api: FakeApi;
let sink: Recorder;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-source-"));
  following = new Following();
  ({ api, sink } = following);
});

afterEach(async () => {
  await following.stop();
  rmSync(folder, { recursive: true });
});

const limits = { silenceMs: 60_000, initialMs: 60_000 };
const timeouts = { connect: 5000, head: 5000, idle: 5000 };

/** Listed once, with "a" in it. */
async function started(more: Parameters<Following["start"]>[1] = {}): Promise<void> {
  api.put(maps, map("a"));
  await following.start(undefined, more);
  await sink.until(() => sink.synchronised === 1);
}

test("a half-open watch is given up when it has been silent too long", async () => {
  await started({ limits: { ...limits, silenceMs: 200 } });
  api.freezeWatches();
  api.put(maps, map("a", "2"));
  await sink.until(() => following.dataOf("a") === "2");
  expect(api.callsTo(maps, "list")).toHaveLength(0);
});

test("a server that never marks the end of the initial events is listed instead", async () => {
  api.put(maps, map("a"));
  api.intercept = ({ query, response }) => {
    if (!query.has("sendInitialEvents")) return false;
    response.writeHead(200);
    response.write(`${JSON.stringify({ type: "ADDED", object: api.get(maps, "default/a") })}\n`);
    return true;
  };
  await following.start(undefined, { limits: { ...limits, initialMs: 200 } });
  await sink.until(() => sink.synchronised === 1);
  expect(sink.keys()).toEqual(["ConfigMap/default/a"]);
});

test("an API server that takes the connection and does not answer is asked again", async () => {
  api.put(maps, map("a"));
  const silent: Call[] = [];
  api.intercept = (call) => silent.length < 2 && silent.push(call) > 0;
  await following.start(undefined, { timeouts: { ...timeouts, head: 1000 }, limits: { ...limits, initialMs: 500 } });
  await sink.until(() => sink.synchronised === 1);
  expect(silent).toHaveLength(2);
  expect(api.callsTo(maps, "list")).toHaveLength(0);
});

test("a list that hangs is broken off, one that comes slowly is read to its end", async () => {
  api.watchList = false;
  api.put(maps, map("a"));
  let lists = 0;
  api.intercept = ({ query, response }) => {
    if (query.has("watch")) return false;
    lists += 1;
    response.writeHead(200, { "content-type": "application/json" });
    if (lists === 1) response.write("{");
    else drip(response, JSON.stringify({ metadata: { resourceVersion: "101" }, items: [api.get(maps, "default/a")] }));
    return true;
  };
  await following.start(undefined, { timeouts: { ...timeouts, idle: 1000 } });
  await sink.until(() => sink.synchronised === 1);
  expect(sink.keys()).toEqual(["ConfigMap/default/a"]);
});

/** In ten pieces over two seconds. */
function drip(response: Call["response"], text: string): void {
  const size = Math.ceil(text.length / 10);
  let from = 0;
  const timer = setInterval(() => {
    response.write(text.slice(from, from + size));
    from += size;
    if (from < text.length) return;
    clearInterval(timer);
    response.end();
  }, 200);
}

test("a list goes on with its page after a failure", async () => {
  api.watchList = false;
  for (let i = 0; i < 1203; i++) api.put(maps, map(`m${i}`));
  let failures = 0;
  api.intercept = ({ query, response }) => {
    if (!query.has("continue") || failures++ % 2 === 1) return false;
    fail(response, 500);
    return true;
  };
  await following.start();
  await sink.until(() => sink.synchronised === 1);
  expect(sink.objects.size).toBe(1203);
  expect(api.callsTo(maps, "list").filter(({ query }) => !query.has("continue"))).toHaveLength(1);
});

test("what is deleted while a list is read in pages is gone after it", async () => {
  api.watchList = false;
  for (let i = 0; i < 600; i++) api.put(maps, map(`m${i}`));
  let meddled = false;
  api.intercept = ({ query }) => {
    if (query.has("continue") && !meddled) {
      meddled = true;
      api.remove(maps, "default/m0");
      api.remove(maps, "default/m599");
    }
    return false;
  };
  await following.start();
  await sink.until(() => sink.synchronised === 1 && sink.objects.size === 598);
});

test("repeated and late events change nothing, and nothing is lost among them", async () => {
  await started();
  api.stutters = true;
  for (const value of ["2", "3", "4"]) api.put(maps, map("a", value));
  api.put(maps, map("b"));
  api.remove(maps, "default/b");
  api.put(maps, map("end"));
  await sink.until(() => following.dataOf("end") === "1");
  const seen = sink.batches.flat().map((event) => (event.type === "upsert" ? event.object.metadata : { ...event, resourceVersion: "" }));
  expect(seen.map(({ name, resourceVersion }) => `${name} ${resourceVersion}`)).toEqual([
    "a 101",
    "a 102",
    "a 103",
    "a 104",
    "b 105",
    "b ",
    "end 107",
  ]);
  expect(sink.keys()).toEqual(["ConfigMap/default/a", "ConfigMap/default/end"]);
});

test("an object that is made again after its deletion is there", async () => {
  await started();
  api.remove(maps, "default/a");
  api.put(maps, map("a", "2"));
  await sink.until(() => following.dataOf("a") === "2");
});

test("versions that begin anew, as after a restored etcd, count from the next list on", async () => {
  await started();
  let restored = false;
  api.intercept = ({ query, response }) => {
    if (restored || !query.has("resourceVersion")) return false;
    restored = true;
    fail(response, 410);
    return true;
  };
  const old = { ...map("a", "old"), metadata: { ...map("a").metadata, resourceVersion: "7" } };
  api.get(maps, "default/a")!.metadata.resourceVersion = "7";
  Object.assign(api.get(maps, "default/a")!, { data: old.data });
  api.endWatches(maps);
  await sink.until(() => following.dataOf("a") === "old");
  api.sendLine(
    maps,
    JSON.stringify({ type: "MODIFIED", object: { ...map("a", "new"), metadata: { ...map("a").metadata, resourceVersion: "8" } } }),
  );
  await sink.until(() => following.dataOf("a") === "new");
});

test("a place that the server does not understand leads to a new list", async () => {
  await started();
  api.intercept = ({ query, response }) => {
    if (!query.has("resourceVersion")) return false;
    fail(response, 400);
    return true;
  };
  api.endWatches(maps);
  api.put(maps, map("a", "2"));
  await sink.until(() => following.dataOf("a") === "2");
});

test("a line cut off by the end of the connection is read again", async () => {
  for (const initial of [true, false]) {
    let cut = false;
    api.intercept = ({ query, response }) => {
      if (cut || !query.has("watch")) return false;
      cut = true;
      response.writeHead(200);
      response.write('{"type":"ADDED","object":{"metadata":{"name":"a","names', () => response.socket?.destroy());
      return true;
    };
    if (initial) await started();
    else {
      api.endWatches(maps);
      api.put(maps, map("b"));
      await sink.until(() => following.dataOf("b") === "1");
    }
    expect(cut).toBe(true);
  }
  expect(sink.current).toEqual([]);
});

test("an API server that refuses connections for a while is found again, with pauses that grow and differ", async () => {
  await started();
  await api.close();
  api.put(maps, map("a", "2"));
  const before = following.waits.length;
  while (following.waits.length < before + 9) await new Promise((resolve) => setImmediate(resolve));
  await api.listen();
  await sink.until(() => following.dataOf("a") === "2");
  const waits = following.waits.slice(before, before + 9);
  expect(Math.max(...waits)).toBeGreaterThan(25_000);
  expect(Math.max(...waits)).toBeLessThanOrEqual(45_000);
  expect(new Set(waits).size).toBe(waits.length);
});

test("after a 401 the token file is read again", async () => {
  const file = join(folder, "token");
  writeFileSync(file, "first\n");
  await api.listen();
  const config = new KubeConfig();
  const authProvider = { name: "tokenFile", config: { tokenFile: file } };
  config.loadFromClusterAndUser({ name: "fake", server: api.url, skipTLSVerify: true }, { name: "pod", authProvider });
  let good = "first";
  api.intercept = ({ headers, response }) => {
    if (headers.authorization === `Bearer ${good}`) return false;
    fail(response, 401);
    return true;
  };
  api.put(maps, map("a"));
  await following.start(undefined, {}, config);
  await sink.until(() => sink.synchronised === 1);
  good = "second";
  api.endWatches(maps, "reset");
  api.put(maps, map("a", "2"));
  const calls = api.calls.length;
  await api.until(() => api.calls.length >= calls + 3);
  expect(following.dataOf("a")).toBe("1");
  writeFileSync(file, "second\n");
  await sink.until(() => following.dataOf("a") === "2");
});

test("a certificate of an authority that is not known is refused until the file names it", async () => {
  const [former, later] = [new Authority("former"), new Authority("later")];
  const file = join(folder, "ca.crt");
  writeFileSync(file, former.certificate);
  await api.listen(later.issue("localhost"));
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: "fake", server: api.url, caFile: file, skipTLSVerify: false }, { name: "pod", token: "t" });
  api.put(maps, map("a"));
  await following.start(undefined, {}, config);
  while (following.waits.length < 3) await new Promise((resolve) => setImmediate(resolve));
  expect(following.log.join()).toMatch(/certificate/);
  expect(api.calls).toHaveLength(0);
  writeFileSync(file, later.certificate);
  await sink.until(() => sink.synchronised === 1);
});

test("--sync-period lists anew and puts right what the watches lost", async () => {
  await started({ resyncMs: 300 });
  api.freezeWatches();
  api.put(maps, map("b"));
  api.remove(maps, "default/a");
  api.forgetHistory();
  await sink.until(() => following.dataOf("b") === "1" && following.dataOf("a") === undefined);
  expect(following.log).toEqual([]);
});

test("a --sync-period of months does not list all the time", async () => {
  await started({ resyncMs: 10_000_000_000 });
  for (const value of ["2", "3", "4"]) {
    api.put(maps, map("a", value));
    await sink.until(() => following.dataOf("a") === value);
  }
  expect(api.callsTo(maps, "watch")).toHaveLength(1);
});

test("while one kind cannot be read the others go on", async () => {
  const services = "/api/v1/services";
  api.intercept = ({ path, response }) => {
    if (path !== services) return false;
    fail(response, 500);
    return true;
  };
  api.put(maps, map("a"));
  await following.start(all(["ConfigMap", "Service"]));
  await sink.until(() => following.dataOf("a") === "1");
  api.put(maps, map("a", "2"));
  await sink.until(() => following.dataOf("a") === "2");
  expect(sink.synchronised).toBe(0);
  api.intercept = () => false;
  await sink.until(() => sink.synchronised === 1);
});
