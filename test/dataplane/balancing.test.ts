import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type BackendDocument, names } from "../../lua-src/wire.ts";
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
let ups: Upstream[];
/** Nobody listens there. */
const dead = { address: "127.0.0.1", port: "1" };

async function counts(host: string, times: number, headers: Record<string, string> = {}): Promise<Record<string, number>> {
  const seen: Record<string, number> = {};
  for (let i = 0; i < times; i++) {
    const reply = await plane.get(host, "/", { headers });
    const key = reply.status === 200 ? (JSON.parse(reply.body) as Echo).name : String(reply.status);
    seen[key] = (seen[key] ?? 0) + 1;
  }
  return seen;
}

function put(...documents: BackendDocument[]) {
  return plane.apply({ backends: byName(...documents) });
}

function canary(name: string, endpoints: readonly Upstream[], policy: Partial<BackendDocument["trafficShapingPolicy"]>): BackendDocument {
  const base = backendDocument(name, endpoints);
  return { ...base, noServer: true, trafficShapingPolicy: { ...base.trafficShapingPolicy, ...policy } };
}

beforeAll(async () => {
  ups = await Promise.all(["u0", "u1", "u2"].map((name) => startUpstream(name)));
  plane = await DataPlane.start();
  await plane.apply({ hosts: byName(hostDocument("app.test", [routeDocument("/", "main")])), general: generalDocument });
});

beforeEach(async () => {
  await plane.apply({ backends: { remove: ["main", "c1", "c2"] } });
});

afterAll(async () => {
  await plane?.stop();
  await Promise.all((ups ?? []).map((up) => up.close()));
});

test("round robin gives every peer the same number of requests", async () => {
  await put(backendDocument("main", ups));
  expect(await counts("app.test", 9)).toEqual({ u0: 3, u1: 3, u2: 3 });
});

test("endpoints come and go without a request failing, and the turn is kept", async () => {
  await put(backendDocument("main", ups.slice(0, 1)));
  expect(await counts("app.test", 2)).toEqual({ u0: 2 });
  await put(backendDocument("main", ups));
  expect(await counts("app.test", 6)).toEqual({ u0: 2, u1: 2, u2: 2 });
  await put(backendDocument("main", []));
  expect(await counts("app.test", 2)).toEqual({ 503: 2 });
  await put(backendDocument("main", ups.slice(2)));
  expect(await counts("app.test", 2)).toEqual({ u2: 2 });
});

test("a dead peer costs no request: another one is tried, each only once", async () => {
  await put(backendDocument("main", [dead, ...ups.slice(0, 2)]));
  const seen = await counts("app.test", 9);
  expect((seen.u0 ?? 0) + (seen.u1 ?? 0)).toBe(9);
});

test("the number of tries is the route's, then the general one", async () => {
  await put(backendDocument("main", [dead]));
  await plane.apply({ hosts: byName(hostDocument("once.test", [routeDocument("/", "main", { retries: { tries: 1 } })])) });
  for (const [host, tries] of [
    ["app.test", 3],
    ["once.test", 1],
  ] as const) {
    expect((await plane.get(host, `/tries-${tries}`)).status).toBe(502);
    const line = await plane.accessLine(`GET /tries-${tries}`);
    expect(line.match(/127\.0\.0\.1:1\b/g)?.length).toBe(tries);
  }
});

test("refused connections are none of the tries as long as another peer is left", async () => {
  const gone = (n: number) => ({ address: `127.0.1.${n}`, port: "1" });
  const refusing = [gone(1), gone(2), gone(3), gone(4), gone(5), gone(6)];
  await plane.apply({ hosts: byName(hostDocument("once.test", [routeDocument("/", "main", { retries: { tries: 1 } })])) });
  await put(backendDocument("main", [...refusing, ups[0]!]));
  expect(await counts("app.test", 1)).toEqual({ u0: 1 });
  await put(backendDocument("main", refusing.slice(0, 5)));
  expect((await plane.get("app.test", "/all-refuse")).status).toBe(502);
  expect((await plane.accessLine("GET /all-refuse")).match(/127\.0\.1\.\d:1\b/g)?.length).toBe(5);
  expect((await plane.get("once.test", "/one-refuses")).status).toBe(502);
  expect((await plane.accessLine("GET /one-refuses")).match(/127\.0\.1\.\d:1\b/g)?.length).toBe(1);
});

test("unlimited tries end when every peer has been asked", async () => {
  const port = (n: number) => ({ address: `127.0.0.${n}`, port: "1" });
  await put(backendDocument("main", [port(1), port(2), port(3), port(4), port(5)]));
  await plane.apply({ hosts: byName(hostDocument("all.test", [routeDocument("/", "main", { retries: { tries: 0 } })])) });
  expect((await plane.get("all.test", "/every-peer")).status).toBe(502);
  expect(new Set((await plane.accessLine("GET /every-peer")).match(/127\.0\.0\.\d:1\b/g)).size).toBe(5);
});

test("a read timeout of the route applies, and only there", async () => {
  await put(backendDocument("main", ups.slice(0, 1)));
  await plane.apply({
    hosts: byName(hostDocument("slow.test", [routeDocument("/", "main", { timeouts: { read: 50 }, retries: { tries: 1 } })])),
  });
  expect((await plane.get("slow.test", "/", { headers: { "x-answer": JSON.stringify({ delay: 400 }) } })).status).toBe(504);
  expect((await plane.get("app.test", "/", { headers: { "x-answer": JSON.stringify({ delay: 400 }) } })).status).toBe(200);
});

test("IPv6 peers are reached; own status port, names and nonsense are not peers", async () => {
  const six = await startUpstream("six", "::1");
  await put(
    backendDocument("main", [six, { address: "127.0.0.9", port: String(plane.ports.status) }, { address: "localhost", port: "80" }]),
  );
  expect(await counts("app.test", 3)).toEqual({ six: 3 });
  await six.close();
});

test("the built-in default backend answers 404 by itself", async () => {
  await put(backendDocument(names.defaultBackend, [], { builtIn404: true }));
  await plane.apply({ hosts: byName(hostDocument("none.test", [routeDocument("/", names.defaultBackend)])) });
  expect(await counts("none.test", 2)).toEqual({ 404: 2 });
});

test("canary weights are exact, over totals above 100 too", async () => {
  await put(backendDocument("main", ups.slice(0, 1), { alternativeBackends: ["c1"] }), canary("c1", ups.slice(1, 2), { weight: 30 }));
  const seen = await counts("app.test", 100);
  expect(seen.u1).toBeGreaterThanOrEqual(29);
  expect(seen.u1).toBeLessThanOrEqual(31);
  await put(canary("c1", ups.slice(1, 2), { weight: 50, weightTotal: 1000 }));
  const few = await counts("app.test", 100);
  expect(few.u1).toBeGreaterThanOrEqual(4);
  expect(few.u1).toBeLessThanOrEqual(6);
  await put(canary("c1", ups.slice(1, 2), { weight: 100 }));
  expect(await counts("app.test", 5)).toEqual({ u1: 5 });
  await put(canary("c1", ups.slice(1, 2), { weight: 0 }));
  expect(await counts("app.test", 5)).toEqual({ u0: 5 });
});

test("several canaries each get their share", async () => {
  await put(
    backendDocument("main", ups.slice(0, 1), { alternativeBackends: ["c1", "c2"] }),
    canary("c1", ups.slice(1, 2), { weight: 25 }),
    canary("c2", ups.slice(2), { weight: 50 }),
  );
  const seen = await counts("app.test", 100);
  expect(Math.abs((seen.u1 ?? 0) - 25)).toBeLessThanOrEqual(1);
  expect(Math.abs((seen.u2 ?? 0) - 50)).toBeLessThanOrEqual(1);
  expect(seen.u0).toBeGreaterThanOrEqual(23);
});

test("canary rules: header, its value or pattern, then cookie, then weight", async () => {
  const policy = { header: "X-Canary", cookie: "canary" };
  await put(backendDocument("main", ups.slice(0, 1), { alternativeBackends: ["c1"] }), canary("c1", ups.slice(1, 2), policy));
  const ask = async (headers: Record<string, string>) => Object.keys(await counts("app.test", 1, headers))[0];
  expect(await ask({ "x-canary": "always" })).toBe("u1");
  expect(await ask({ "x-canary": "never", cookie: "canary=always" })).toBe("u0");
  expect(await ask({ "x-canary": "other", cookie: "canary=always" })).toBe("u1");
  expect(await ask({ cookie: "canary=never" })).toBe("u0");
  expect(await ask({})).toBe("u0");
  await put(canary("c1", ups.slice(1, 2), { ...policy, headerValue: "yes" }));
  expect(await ask({ "x-canary": "yes" })).toBe("u1");
  expect(await ask({ "x-canary": "always" })).toBe("u0");
  expect(await ask({ "x-canary": "never", cookie: "canary=always" })).toBe("u1");
  await put(canary("c1", ups.slice(1, 2), { ...policy, headerPattern: "^v[0-9]+$" }));
  expect(await ask({ "x-canary": "v12" })).toBe("u1");
  expect(await ask({ "x-canary": "w12" })).toBe("u0");
  await put(canary("c1", ups.slice(1, 2), { ...policy, headerPattern: "[" }));
  expect(await ask({ "x-canary": "v12", cookie: "canary=always" })).toBe("u0");
});

test("a canary without endpoints leaves everything to the primary, and is logged beside it", async () => {
  await put(backendDocument("main", ups.slice(0, 1), { alternativeBackends: ["c1"] }), canary("c1", ups.slice(1, 2), { weight: 100 }));
  expect((await plane.get("app.test", "/logged")).status).toBe(200);
  expect(await plane.accessLine("GET /logged")).toContain("[main] [c1]");
  await put(canary("c1", [], { weight: 100 }));
  expect(await counts("app.test", 2)).toEqual({ u0: 2 });
});

test("a peer that refused is passed over for a while, but not where a refused connection is the answer", async () => {
  await put(backendDocument("main", [{ address: "127.0.0.7", port: "1" }, ...ups.slice(0, 1)]));
  const once = { retries: { tries: 1, refused: false } };
  await plane.apply({ hosts: byName(hostDocument("turns.test", [routeDocument("/", "main", once)])) });
  expect(await counts("app.test", 2)).toEqual({ u0: 2 });
  const before = plane.accessLog().length;
  expect(await counts("app.test", 10)).toEqual({ u0: 10 });
  expect(plane.accessLog().slice(before)).not.toContain("127.0.0.7:1");
  expect(await counts("turns.test", 10)).toEqual({ u0: 5, 502: 5 });
});

test("a peer that hangs up after the request is none that refuses: it keeps its turns", async () => {
  let asked = 0;
  const rude = createServer((socket) => {
    socket.once("data", () => {
      asked += 1;
      socket.destroy();
    });
  });
  await new Promise<void>((done) => rude.listen(0, "127.0.0.8", done));
  const port = String((rude.address() as AddressInfo).port);
  await put(backendDocument("main", [{ address: "127.0.0.8", port }, ...ups.slice(0, 2)]));
  const seen = await counts("app.test", 10);
  expect((seen.u0 ?? 0) + (seen.u1 ?? 0)).toBe(10);
  expect(asked).toBeGreaterThan(2);
  await new Promise((done) => rude.close(done));
});
