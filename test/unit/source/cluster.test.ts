import { afterEach, beforeEach, expect, test } from "vitest";
import { followedFor } from "../../../control/source/cluster.ts";
import { type FakeApi, fail } from "../../kit/fake-api.ts";
import { all, Following, map, maps } from "./following.ts";
import type { Recorder } from "./recorder.ts";

const classes = "/apis/networking.k8s.io/v1/ingressclasses";

let following: Following;
let api: FakeApi;
let sink: Recorder;

beforeEach(() => {
  following = new Following();
  ({ api, sink } = following);
});

afterEach(() => following.stop());

test("initial events make the first state, later ones change it", async () => {
  api.put(maps, map("a"));
  await following.start();
  await sink.until(() => sink.synchronised === 1);
  expect(sink.keys()).toEqual(["ConfigMap/default/a"]);
  api.put(maps, map("a", "2"));
  api.put(maps, map("b"));
  await sink.until(() => following.dataOf("a") === "2" && following.dataOf("b") === "1");
  api.remove(maps, "default/b");
  await sink.until(() => following.dataOf("b") === undefined);
  expect(api.callsTo(maps, "list")).toHaveLength(0);
  const [watch] = api.callsTo(maps, "watch");
  expect(watch!.headers.authorization).toBe("Bearer secret-token");
  expect(watch!.query.get("labelSelector")).toBe("owner!=helm");
  expect(watch!.query.get("allowWatchBookmarks")).toBe("true");
});

test("a server without initial events is listed in pages", async () => {
  api.watchList = false;
  for (let i = 0; i < 1203; i++) api.put(maps, map(`m${i}`));
  await following.start();
  await sink.until(() => sink.synchronised === 1);
  expect(sink.objects.size).toBe(1203);
  const lists = api.callsTo(maps, "list");
  expect(lists.map((call) => call.query.get("limit"))).toEqual(["500", "500", "500"]);
  expect(lists.some((call) => call.query.has("resourceVersion"))).toBe(false);
  await api.until(() => api.callsTo(maps, "watch").length === 2);
  api.put(maps, map("m0", "2"));
  await sink.until(() => following.dataOf("m0") === "2");
});

test("a continue token that expires between two pages leads to one list in one piece", async () => {
  api.watchList = false;
  for (let i = 0; i < 600; i++) api.put(maps, map(`m${i}`));
  let expired = 0;
  api.intercept = ({ query, response }) => {
    if (!query.has("continue") || expired++ > 0) return false;
    fail(response, 410);
    return true;
  };
  await following.start();
  await sink.until(() => sink.synchronised === 1);
  expect(sink.objects.size).toBe(600);
  expect(api.callsTo(maps, "list").at(-1)!.query.has("limit")).toBe(false);
});

for (const status of [500, 401, 429]) {
  test(`a watch answered ${status} is tried again`, async () => {
    api.put(maps, map("a"));
    let refusals = 0;
    api.intercept = ({ response }) => {
      if (refusals++ >= 2) return false;
      fail(response, status);
      return true;
    };
    await following.start();
    await sink.until(() => sink.synchronised === 1);
    expect(following.dataOf("a")).toBe("1");
    expect(following.log.some((line) => line.includes(`answered ${status}`))).toBe(true);
  });
}

test("Retry-After holds the next attempt back", async () => {
  let refused = false;
  api.intercept = ({ response }) => {
    if (refused) return false;
    refused = true;
    fail(response, 429, { "retry-after": "100" });
    return true;
  };
  await following.start();
  await sink.until(() => sink.synchronised === 1);
  expect(following.waits).toHaveLength(1);
  expect(following.waits[0]).toBeGreaterThanOrEqual(100_000);
});

test("a broken connection loses nothing, deletions in the gap included", async () => {
  api.put(maps, map("a"));
  api.put(maps, map("b"));
  await following.start();
  await sink.until(() => sink.synchronised === 1);
  api.endWatches(maps, "reset");
  api.remove(maps, "default/a");
  api.put(maps, map("c"));
  await sink.until(() => following.dataOf("a") === undefined && following.dataOf("c") === "1");
  expect(api.callsTo(maps, "watch").at(-1)!.query.has("resourceVersion")).toBe(true);
});

test("a server that closes each watch at once is asked ever more rarely", async () => {
  api.put(maps, map("a"));
  await following.start();
  await sink.until(() => sink.synchronised === 1);
  const before = api.calls.length;
  api.intercept = ({ response }) => {
    response.writeHead(200);
    response.end();
    return true;
  };
  api.endWatches(maps);
  await api.until(() => api.calls.length >= before + 8);
  const least = [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000];
  expect(following.waits.slice(0, 8).map((wait, index) => wait >= least[index]! && wait <= least[index]! * 1.5)).toEqual(
    least.map(() => true),
  );
});

test("410 in the answer and in the stream lists again and finds what was deleted meanwhile", async () => {
  for (const how of ["answer", "stream"]) {
    api.put(maps, map("a"));
    if (how === "answer") await following.start();
    await sink.until(() => following.dataOf("a") === "1");
    await sink.until(() => sink.synchronised === 1);
    let refused = false;
    api.intercept = ({ query, response }) => {
      if (refused || !query.has("resourceVersion")) return false;
      refused = true;
      if (how === "answer") fail(response, 410);
      else response.end(`${JSON.stringify({ type: "ERROR", object: { kind: "Status", code: 410, message: "too old", metadata: {} } })}\n`);
      return true;
    };
    api.endWatches(maps);
    api.remove(maps, "default/a");
    api.forgetHistory();
    await sink.until(() => following.dataOf("a") === undefined);
  }
});

test("a broken line loses no event", async () => {
  api.put(maps, map("a"));
  await following.start();
  await sink.until(() => sink.synchronised === 1);
  api.sendLine(maps, '{"type":"MODIFIED","object":{"metadata":');
  api.put(maps, map("b"));
  await sink.until(() => following.dataOf("b") === "1");
  expect(api.callsTo(maps, "watch")).toHaveLength(2);
});

test("a bookmark moves the place where the watch resumes", async () => {
  api.put(maps, map("a"));
  await following.start();
  await sink.until(() => sink.synchronised === 1);
  api.bookmark(maps);
  api.endWatches(maps);
  await api.until(() => api.callsTo(maps, "watch").length === 2);
  expect(api.callsTo(maps, "watch")[1]!.query.get("resourceVersion")).toBe("102");
});

test("refused IngressClasses count as listed with one log line; refused ConfigMaps do not", async () => {
  let allowed = false;
  api.put(maps, map("a"));
  api.intercept = ({ path, response }) => {
    if (path === maps && allowed) return false;
    fail(response, 403);
    return true;
  };
  await following.start(all(["ConfigMap", "IngressClass"]));
  await api.until(() => api.callsTo(classes, "watch").length >= 3 && api.callsTo(maps, "watch").length >= 3);
  expect(sink.synchronised).toBe(0);
  expect(following.log.filter((line) => line.includes("ingressclasses"))).toHaveLength(1);
  allowed = true;
  await sink.until(() => sink.synchronised === 1);
  expect(sink.keys()).toEqual(["ConfigMap/default/a"]);
});

test("a malformed object is a finding, goes on being what it was, and others are not touched", async () => {
  api.put(maps, map("a"));
  await following.start();
  await sink.until(() => sink.synchronised === 1);
  api.put(maps, { metadata: { name: "a", namespace: "default" }, data: { value: 7 } });
  api.put(maps, map("b"));
  await sink.until(() => following.dataOf("b") === "1" && sink.current.length === 1);
  expect(sink.current[0]).toMatchObject({
    code: "object-malformed",
    at: "data[value]",
    about: { kind: "ConfigMap", namespace: "default", name: "a" },
  });
  expect(following.dataOf("a")).toBe("1");
  api.put(maps, map("a", "8"));
  await sink.until(() => following.dataOf("a") === "8" && sink.current.length === 0);
});

test("one watched namespace narrows the paths, and named objects elsewhere are followed by name", () => {
  const followed = followedFor({
    kinds: ["Ingress", "IngressClass", "Secret"],
    namespace: "web",
    extras: [
      { kind: "Secret", namespace: "web", name: "own" },
      { kind: "Secret", namespace: "tls", name: "wild" },
      { kind: "Service", namespace: "errors", name: "pages" },
    ],
  });
  expect(followed.map(({ kind, namespace, query }) => [kind, namespace, ...Object.values(query)])).toEqual([
    ["Ingress", "web"],
    ["IngressClass", ""],
    ["Secret", "web", "owner!=helm"],
    ["Secret", "tls", "metadata.name=wild"],
    ["Service", "errors", "metadata.name=pages"],
    ["EndpointSlice", "errors", "kubernetes.io/service-name=pages"],
  ]);
});
