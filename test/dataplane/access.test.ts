import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { FeatureDocuments } from "../../lua-src/wire.ts";
import {
  backendDocument,
  byName,
  DataPlane,
  type Echo,
  generalDocument,
  hostDocument,
  type Reply,
  routeDocument,
  startUpstream,
  type Upstream,
} from "../kit/data-plane.ts";

let plane: DataPlane;
let a: Upstream;
const realm = "Staff only";

function route(features: FeatureDocuments) {
  return hostDocument("app.test", [routeDocument("/", "a", features)]);
}

function md5(text: string): string {
  return createHash("md5").update(text).digest("hex");
}

function basic(user: string, password: string): { readonly headers: { readonly authorization: string } } {
  return { headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` } };
}

interface Answering {
  readonly uri: string;
  readonly password?: string;
  readonly count?: number;
  readonly nonce?: string;
}

function digest(challenge: string, { uri, password = "secret", count = 1, nonce }: Answering) {
  const used = nonce ?? /nonce="([^"]+)"/.exec(challenge)?.[1] ?? "";
  const nc = count.toString(16).padStart(8, "0");
  const response = md5(`${md5(`alice:${realm}:${password}`)}:${used}:${nc}:c0:auth:${md5(`GET:${uri}`)}`);
  const authorization = `Digest username="alice", realm="${realm}", nonce="${used}", uri="${uri}", qop=auth, nc=${nc}, cnonce="c0", response="${response}"`;
  return { headers: { authorization } };
}

async function challengeOf(path: string): Promise<string> {
  const reply = await plane.get("app.test", path);
  expect(reply.status).toBe(401);
  return reply.headers["www-authenticate"] ?? "";
}

function headersOf(reply: Reply): Record<string, unknown> {
  expect(reply.status, reply.body).toBe(200);
  return (JSON.parse(reply.body) as Echo).headers;
}

beforeAll(async () => {
  a = await startUpstream("a");
  plane = await DataPlane.start();
});

beforeEach(async () => {
  await plane.apply({
    backends: byName(backendDocument("a", [a])),
    general: generalDocument,
    users: {
      upsert: { basic: "alice:{PLAIN}secret\nbob:{PLAIN}\n", digest: `alice:${realm}:${md5(`alice:${realm}:secret`)}\n` },
      remove: ["new", "slow"],
    },
  });
});

afterAll(async () => {
  await plane?.stop();
  await a?.close();
});

test("basic: credentials are checked, taken away from the request, and asked for with the realm", async () => {
  await plane.apply({ hosts: byName(route({ authBasic: { users: "basic", realm } })) });
  expect(await challengeOf("/")).toBe(`Basic realm="${realm}"`);
  for (const wrong of [basic("alice", "wrong"), basic("carol", "secret"), basic("", "secret"), { headers: { authorization: "Basic !" } }]) {
    expect((await plane.get("app.test", "/", wrong)).status).toBe(401);
  }
  expect(headersOf(await plane.get("app.test", "/", basic("alice", "secret")))).not.toHaveProperty("authorization");
  expect((await plane.get("app.test", "/", basic("bob", ""))).status).toBe(200);
});

test("a list of addresses may be named by its key; a location whose list is not there answers 503", async () => {
  await plane.apply({ networks: { upsert: { mine: "10.0.0.0/8,127.0.0.1/32", other: "10.0.0.0/8" } } });
  const served = async (features: FeatureDocuments) => {
    await plane.apply({ hosts: byName(route(features)) });
    return (await plane.get("app.test", "/")).status;
  };
  expect(await served({ ipAccess: { allow: "mine" } })).toBe(200);
  expect(await served({ ipAccess: { allow: "other" } })).toBe(403);
  expect(await served({ ipAccess: { deny: "mine" } })).toBe(403);
  expect(await served({ ipAccess: { allow: "nobody's" } })).toBe(503);
  const keys = async () => JSON.parse((await plane.configuration("GET", "/configuration/servers")).body) as { networks: string[] };
  expect((await keys()).networks).toEqual(["mine", "other"]);
  await plane.apply({ networks: { remove: ["mine", "other"] } });
  expect((await keys()).networks).toEqual([]);
});

test("a changed table of users counts for the very next request; a removed one lets nobody pass", async () => {
  await plane.apply({ hosts: byName(route({ authBasic: { users: "new", realm: "" } })) });
  expect((await plane.get("app.test", "/", basic("alice", "one"))).status).toBe(503);
  await plane.apply({ users: { upsert: { new: "alice:{PLAIN}one\n" } } });
  expect((await plane.get("app.test", "/", basic("alice", "one"))).status).toBe(200);
  await plane.apply({ users: { upsert: { new: "alice:{PLAIN}two\n" } } });
  expect((await plane.get("app.test", "/", basic("alice", "one"))).status).toBe(401);
  expect((await plane.get("app.test", "/", basic("alice", "two"))).status).toBe(200);
  await plane.apply({ users: { remove: ["new"] } });
  expect((await plane.get("app.test", "/", basic("alice", "two"))).status).toBe(503);
});

test("guesses at a slow hash wait in turn; other routes and who is known already are served meanwhile", async () => {
  // bcrypt of "secret", cost 8
  const slow = "alice:$2y$08$abcdefghijklmnopqrstuuKxCcvB7KZ7.BpDoK0bh6qM7Dl1/xiJa\n";
  await plane.apply({
    users: { upsert: { slow } },
    hosts: byName(route({ authBasic: { users: "slow", realm } }), hostDocument("open.test", [routeDocument("/", "a")])),
  });
  expect((await plane.get("app.test", "/", basic("alice", "secret"))).status).toBe(200);
  const guesses = Array.from({ length: 12 }, (_, i) => plane.get("app.test", "/", basic("alice", `guess ${i}`)));
  const others = [plane.get("app.test", "/", basic("alice", "secret")), plane.get("open.test", "/")];
  expect((await Promise.all(others)).map((reply) => reply.status)).toEqual([200, 200]);
  expect((await Promise.all(guesses)).map((reply) => reply.status)).toEqual(guesses.map(() => 401));
});

test("the configuration socket names the tables and shows no hash", async () => {
  const reply = await plane.configuration("GET", "/configuration/servers");
  expect((JSON.parse(reply.body) as { users: string[] }).users).toEqual(["basic", "digest"]);
  expect(reply.body).not.toContain("secret");
  expect((await plane.configuration("GET", "/configuration/users")).status).toBe(404);
});

test("digest: a right answer passes once, and the next count after it", async () => {
  await plane.apply({ hosts: byName(route({ authBasic: { users: "digest", realm, digest: true } })) });
  const challenge = await challengeOf("/a?b=1");
  expect(challenge).toMatch(/^Digest algorithm="MD5", qop="auth", realm="Staff only", nonce="[0-9a-f.]+"$/);
  const uri = "/a?nc=5&x=%22";
  expect(headersOf(await plane.get("app.test", uri, digest(challenge, { uri })))).not.toHaveProperty("authorization");
  const again = await plane.get("app.test", uri, digest(challenge, { uri }));
  expect([again.status, again.headers["www-authenticate"]]).toEqual([401, expect.stringContaining("stale=true")]);
  expect((await plane.get("app.test", uri, digest(challenge, { uri, count: 2 }))).status).toBe(200);
});

test("digest: neither a wrong password, another URI, a foreign nonce nor Basic passes", async () => {
  await plane.apply({ hosts: byName(route({ authBasic: { users: "digest", realm, digest: true } })) });
  const challenge = await challengeOf("/");
  const refused = [
    digest(challenge, { uri: "/", password: "wrong" }),
    digest(challenge, { uri: "/other" }),
    digest(challenge, { uri: "/", nonce: "5f000000.0000000000000000000000000000000000000000" }),
    basic("alice", "secret"),
    basic("alice", md5(`alice:${realm}:secret`)),
    { headers: { authorization: "Digest " } },
  ];
  for (const options of refused) expect((await plane.get("app.test", "/", options)).status).toBe(401);
});

test("a digest table is no table for basic, whose passwords are hashes", async () => {
  await plane.apply({ hosts: byName(route({ authBasic: { users: "digest", realm } })) });
  expect((await plane.get("app.test", "/", basic("alice", realm))).status).toBe(401);
});

test("satisfy any: the address or the credentials; the upstream sees the credentials in neither case", async () => {
  const any = { satisfy: { any: true as const }, authBasic: { users: "basic", realm } };
  await plane.apply({ hosts: byName(route({ ...any, ipAccess: { allow: ["127.0.0.0/8"] } })) });
  expect(headersOf(await plane.get("app.test", "/", basic("alice", "wrong")))).not.toHaveProperty("authorization");
  await plane.apply({ hosts: byName(route({ ...any, ipAccess: { allow: ["10.0.0.0/8"] } })) });
  expect(await challengeOf("/")).toContain("Basic");
  expect((await plane.get("app.test", "/", basic("alice", "secret"))).status).toBe(200);
  await plane.apply({ hosts: byName(route({ ...any, ipAccess: { deny: ["10.0.0.0/8"] } })) });
  expect((await plane.get("app.test", "/")).status, "a deny list alone lets nobody in").toBe(401);
});

test("satisfy all: a refused address is told so before it is asked for credentials", async () => {
  await plane.apply({ hosts: byName(route({ authBasic: { users: "basic", realm }, ipAccess: { allow: ["10.0.0.0/8"] } })) });
  const reply = await plane.get("app.test", "/", basic("alice", "secret"));
  expect([reply.status, reply.headers["www-authenticate"]]).toEqual([403, undefined]);
});

test("block-cidrs holds for plain routes and unknown hosts, not for routes with lists, and follows satisfy", async () => {
  await plane.apply({
    general: { ...generalDocument, access: { blockCidrs: ["127.0.0.0/8"] } },
    hosts: byName(route({}), hostDocument("listed.test", [routeDocument("/", "a", { ipAccess: { deny: ["10.0.0.0/8"] } })])),
  });
  expect((await plane.get("app.test", "/")).status).toBe(403);
  expect((await plane.get("listed.test", "/")).status).toBe(200);
  await plane.apply({ hosts: byName(route({ satisfy: { any: true }, authBasic: { users: "basic", realm } })) });
  expect((await plane.get("app.test", "/", basic("alice", "secret"))).status).toBe(200);
  await plane.apply({ general: generalDocument });
  expect((await plane.get("app.test", "/")).status).toBe(401);
});
