import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { StateDocument } from "../../lua-src/wire.ts";
import {
  backendDocument,
  byName,
  DataPlane,
  type Echo,
  generalDocument,
  hostDocument,
  routeDocument,
  startUpstream,
  type Upstream,
} from "../kit/data-plane.ts";

let plane: DataPlane;
let a: Upstream;
let b: Upstream;

beforeAll(async () => {
  a = await startUpstream("a");
  b = await startUpstream("b");
});

beforeEach(async () => {
  plane = await DataPlane.start((view) => ({
    ...view,
    dictionaries: { ...view.dictionaries, configuration_data: 512 * 1024 },
    workerProcesses: 2,
  }));
});

afterEach(() => plane.stop());
afterAll(() => Promise.all([a.close(), b.close()]));

async function state(): Promise<StateDocument> {
  return JSON.parse((await plane.configuration("GET", "/configuration/state")).body) as StateDocument;
}

function patch(batch: unknown) {
  return plane.configuration("PATCH", "/configuration", typeof batch === "string" ? batch : JSON.stringify(batch));
}

const app = hostDocument("app.test", [routeDocument("/", "a")]);

test("state tells version, conf hash and counts; a fresh nginx is version 0 and not ready", async () => {
  expect(await state()).toMatchObject({ version: 0, conf: plane.hash, counts: { hosts: 0, backends: 0, certificates: 0, servers: 0 } });
  expect((await plane.configuration("GET", "/is-dynamic-lb-initialized")).status).toBe(500);
  await plane.apply({
    hosts: byName(app),
    backends: byName(backendDocument("a", [a])),
    certificates: { upsert: { u1: "x" } },
    servers: { upsert: { _: "u1", "app.test": "u1" } },
  });
  expect(await state()).toMatchObject({ version: 1, counts: { hosts: 1, backends: 1, certificates: 1, servers: 2 } });
  expect(await plane.configuration("GET", "/is-dynamic-lb-initialized")).toMatchObject({ status: 200, body: "OK\n" });
  await plane.apply({ hosts: { remove: ["app.test", "never.test"] }, servers: { remove: ["app.test"] } });
  expect(await state()).toMatchObject({ version: 2, counts: { hosts: 0, backends: 1, servers: 1 } });
});

test("a malformed batch is refused whole, with the place", async () => {
  await plane.apply({ hosts: byName(app) });
  const route = routeDocument("/", "a");
  const wrong: [unknown, string][] = [
    ["{", "no JSON"],
    ["[]", "version"],
    [{ version: 5, hosts: { upsert: { "x.test": { name: "x.test" } } } }, "routes"],
    [{ version: 5, hosts: { upsert: { "x.test": hostDocument("y.test", []) } } }, "named y.test"],
    [{ version: 5, hosts: { upsert: { "x.test": hostDocument("x.test", [{ ...route, kind: "glob" as never }]) } } }, "kind"],
    [
      { version: 5, hosts: { upsert: { "x.test": hostDocument("x.test", [{ ...route, backend: undefined }]) } } },
      "neither backend nor fixed",
    ],
    [
      {
        version: 5,
        hosts: { upsert: { "x.test": hostDocument("x.test", [{ ...route, features: { rewrite: { from: 1, target: "/" } as never } }]) } },
      },
      "rewrite.from",
    ],
    [{ version: 5, hosts: { upsert: { "x.test": hostDocument("x.test", [{ ...route, path: null as never }]) } } }, "null"],
    [{ version: 5, backends: { upsert: { b: { ...backendDocument("b", []), endpoints: { address: "1.1.1.1" } } } } }, "endpoints"],
    [{ version: 5, certificates: { upsert: { u: 5 } } }, "certificates"],
    [{ version: 5, hosts: { remove: "app.test" } }, "remove"],
    [{ version: 5, general: { healthPath: "/" } }, "general"],
    [{ version: 1.5 }, "version"],
  ];
  for (const [batch, text] of wrong) {
    const reply = await patch(batch);
    expect(reply.status, `${JSON.stringify(batch)} ${reply.body}`).toBe(400);
    expect(reply.body).toContain(text);
  }
  expect(await state()).toMatchObject({ version: 1, counts: { hosts: 1, backends: 0 } });
});

test("a version that is not newer is refused with 409", async () => {
  await plane.apply({ hosts: byName(app) });
  expect((await patch({ version: 1, hosts: { remove: ["app.test"] } })).status).toBe(409);
  expect((await patch({ version: 9, hosts: { remove: ["app.test"] } })).status).toBe(200);
  expect((await state()).version).toBe(9);
});

test("what does not fit is refused whole with 507, and what was there is served on", async () => {
  await plane.apply({ hosts: byName(app), backends: byName(backendDocument("a", [a])) });
  const before = await plane.configuration("GET", "/configuration/routes");
  const many = Array.from({ length: 3000 }, (_, i) => hostDocument(`h${i}.test`, [routeDocument("/", "a"), routeDocument("/x", "a")]));
  const grown = hostDocument(
    "app.test",
    Array.from({ length: 100 }, (_, i) => routeDocument(`/${i}`, "a")),
  );
  const reply = await patch({ version: 2, hosts: byName(grown, ...many), backends: { remove: ["a"] } });
  expect(reply.status, reply.body).toBe(507);
  expect(await plane.configuration("GET", "/configuration/routes")).toMatchObject({ body: before.body });
  expect(await state()).toMatchObject({ version: 1, counts: { hosts: 1, backends: 1 } });
  for (let i = 0; i < 4; i++) expect((await plane.get("app.test", "/")).status).toBe(200);
  expect((await patch({ version: 2, hosts: byName(hostDocument("small.test", [routeDocument("/", "a")])) })).status).toBe(200);
  expect((await plane.get("small.test", "/")).status).toBe(200);
});

test("bodies of many megabytes arrive", async () => {
  const pem = "x".repeat(1024 * 1024);
  const certificates = { upsert: Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`u${i}`, pem + i])) };
  expect((await patch({ version: 1, certificates })).status).toBe(200);
  expect((await state()).counts.certificates).toBe(12);
});

test("whole lists can be posted and read back, sorted", async () => {
  const hosts = [hostDocument("b.test", [routeDocument("/", "a")]), hostDocument("a.test", [])];
  expect(await plane.configuration("POST", "/configuration/routes", JSON.stringify(hosts))).toMatchObject({ status: 201, body: "" });
  expect(
    await plane.configuration("POST", "/configuration/backends", JSON.stringify([backendDocument("a", [a]), backendDocument("0", [])])),
  ).toMatchObject({ status: 201 });
  expect(JSON.parse((await plane.configuration("GET", "/configuration/routes")).body)).toEqual([hosts[1], hosts[0]]);
  expect(JSON.parse((await plane.configuration("GET", "/configuration/backends")).body)).toEqual([
    backendDocument("0", []),
    backendDocument("a", [a]),
  ]);
  expect((await plane.get("b.test", "/")).status).toBe(200);
  expect((await plane.configuration("POST", "/configuration/routes", JSON.stringify([hosts[1]]))).status).toBe(201);
  expect((await plane.get("b.test", "/")).status).toBe(404);
  expect(await plane.configuration("POST", "/configuration/general", JSON.stringify(generalDocument))).toMatchObject({ status: 201 });
  expect(JSON.parse((await plane.configuration("GET", "/configuration/general")).body)).toEqual(generalDocument);
  expect((await plane.configuration("POST", "/configuration/backends", "{")).status).toBe(400);
});

test("servers: names to certificates, -1 takes a name away, certs reads by exact name", async () => {
  const post = (servers: Record<string, string>) =>
    plane.configuration("POST", "/configuration/servers", JSON.stringify({ certificates: { u1: "PEM" }, servers }));
  expect((await post({ "a.test": "u1", "b.test": "u1" })).status).toBe(201);
  const certs = (query: string) => plane.configuration("GET", `/configuration/certs${query}`);
  expect(await certs("?hostname=a.test")).toMatchObject({ status: 200, body: "PEM" });
  expect(await certs("?hostname=c.test")).toMatchObject({ status: 404, body: "No key associated with this hostname." });
  expect(await certs("")).toMatchObject({ status: 400, body: "Hostname must be specified." });
  await post({ "a.test": "-1", "b.test": "u1" });
  expect((await certs("?hostname=a.test")).status).toBe(404);
});

test("methods and paths that are not there are told apart", async () => {
  const ask = (method: string, path: string) => plane.configuration(method, path, method === "GET" ? undefined : "{}");
  expect(await ask("DELETE", "/configuration/backends")).toMatchObject({ status: 400, body: "Only POST and GET requests are allowed!" });
  expect(JSON.parse((await ask("GET", "/configuration/servers")).body)).toEqual({ servers: {}, users: [], networks: [] });
  expect(await ask("POST", "/configuration/certs")).toMatchObject({ status: 400, body: "Only GET requests are allowed!" });
  expect(await ask("GET", "/configuration/other")).toMatchObject({ status: 404, body: "Not found!" });
});

test("match explains by the router that serves traffic", async () => {
  await plane.apply({
    hosts: byName(hostDocument("*.app.test", [routeDocument("/api/", "a"), routeDocument("/none/", "none")])),
    backends: byName(backendDocument("a", [a])),
  });
  const match = async (query: string) => JSON.parse((await plane.configuration("GET", `/configuration/match?${query}`)).body) as object;
  expect(await match("host=X.app.test&uri=/api/v1%3Fq&raw=/api/v1%253Fq")).toMatchObject({
    host: "*.app.test",
    how: "wildcard",
    backend: "a",
    route: { path: "/api/" },
    endpoints: [{ port: a.port }],
  });
  expect(await match("host=x.app.test&uri=/none/")).toMatchObject({ status: 503, backend: "none", endpoints: [] });
  expect(await match("host=x.app.test&uri=/")).toMatchObject({ status: 404 });
  expect(await match("host=y.test&uri=/")).toMatchObject({ how: "none", status: 404 });
});

test("match follows the rules of a canary", async () => {
  const policy = { weight: 0, weightTotal: 100, header: "X-New", headerValue: "", headerPattern: "", cookie: "new" };
  await plane.apply({
    hosts: byName(hostDocument("app.test", [routeDocument("/", "a")])),
    backends: byName(
      { ...backendDocument("a", [a]), alternativeBackends: ["b"] },
      { ...backendDocument("b", [b]), noServer: true, trafficShapingPolicy: policy },
    ),
  });
  const match = async (query: string) =>
    JSON.parse((await plane.configuration("GET", `/configuration/match?host=app.test&uri=/${query}`)).body) as {
      backend: string;
      canary?: string;
    };
  expect(await match("")).toMatchObject({ backend: "a" });
  expect(await match("&header.x-new=always")).toMatchObject({ backend: "b", canary: "b", endpoints: [{ port: b.port }] });
  expect(await match("&header.x-new=never&header.cookie=new%3Dalways")).toMatchObject({ backend: "a" });
  expect(await match("&header.cookie=new%3Dalways")).toMatchObject({ backend: "b" });
  const shared = (weight: number) => ({ ...policy, weight, header: "", cookie: "" });
  await plane.apply({
    backends: byName(
      { ...backendDocument("a", [a]), alternativeBackends: ["c", "b", "d"] },
      { ...backendDocument("b", [b]), noServer: true, trafficShapingPolicy: policy },
      { ...backendDocument("c", [b]), noServer: true, trafficShapingPolicy: shared(10) },
      { ...backendDocument("d", [b]), noServer: true, trafficShapingPolicy: shared(20) },
    ),
  });
  expect(await match("")).toMatchObject({ backend: "a", sharing: ["c", "d"] });
  expect(await match("&header.x-new=always")).toMatchObject({ backend: "b", canary: "b" });
  await plane.apply({
    backends: byName(
      { ...backendDocument("a", [a]), alternativeBackends: ["c"] },
      { ...backendDocument("c", [b]), noServer: true, trafficShapingPolicy: shared(100) },
    ),
  });
  expect(await match("")).toMatchObject({ backend: "c", canary: "c", endpoints: [{ port: b.port }] });
});

test("every worker serves a change from its acknowledgement on, however many there were", async () => {
  await plane.apply({ backends: byName(backendDocument("a", [a])), hosts: byName(app) });
  for (let i = 0; i < 300; i++) await plane.apply({ hosts: byName(hostDocument("busy.test", [routeDocument(`/${i}/`, "a")])) });
  const seen = await Promise.all(Array.from({ length: 20 }, () => plane.get("busy.test", "/299/x")));
  expect(seen.map((reply) => (JSON.parse(reply.body) as Echo).uri)).toEqual(Array.from({ length: 20 }, () => "/299/x"));
});

test("a reload brings new profiles and keeps the documents", async () => {
  await plane.apply({
    backends: byName(backendDocument("a", [a])),
    hosts: byName(hostDocument("app.test", [routeDocument("/", "a", {}, { profile: "p9" })])),
  });
  expect((await plane.get("app.test", "/")).status).toBe(503);
  await plane.reload((view) => ({ ...view, profiles: [{ id: "p9", family: "http", directives: [] }] }));
  expect((await plane.get("app.test", "/")).status).toBe(200);
  expect(await state()).toMatchObject({ version: 1, conf: plane.hash });
});
