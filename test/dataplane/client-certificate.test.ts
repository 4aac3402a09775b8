import tls from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClientAuthDocument } from "../../lua-src/wire.ts";
import { Authority, type ClientPair } from "../kit/authority.ts";
import {
  backendDocument,
  byName,
  DataPlane,
  type Echo,
  hostDocument,
  routeDocument,
  startUpstream,
  type Upstream,
} from "../kit/data-plane.ts";

let plane: DataPlane;
let upstream: Upstream;
const ours = new Authority("ours");
const middle = new Authority("middle", ours);
const theirs = new Authority("theirs");
const alice = ours.issue("alice");
const bob = ours.issue('bob, the "builder" + co');
const mallory = theirs.issue("mallory");

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly reused: boolean;
  readonly session: Buffer | undefined;
}

interface Ask {
  readonly sni: string | undefined;
  readonly host?: string;
  readonly path?: string;
  readonly client?: ClientPair;
  readonly session?: Buffer | undefined;
  readonly version?: "TLSv1.2" | "TLSv1.3";
}

/** One HTTP/1.1 request on a connection of its own; the session is the last one offered. */
function ask({ sni, host = sni ?? "", path = "/", client, session, version = "TLSv1.3" }: Ask): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let offered: Buffer | undefined;
    let text = "";
    let reused = false;
    const socket = tls.connect({
      host: "127.0.0.1",
      port: plane.ports.https,
      rejectUnauthorized: false,
      minVersion: version,
      maxVersion: version,
      ...(sni === undefined ? {} : { servername: sni }),
      ...client,
      ...(session === undefined ? {} : { session }),
    });
    socket.on("session", (s) => {
      offered = s;
    });
    socket.on("secureConnect", () => {
      reused = socket.isSessionReused();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nssl-client-verify: SUCCESS\r\nConnection: close\r\n\r\n`);
    });
    socket.on("data", (part) => {
      text += part.toString("latin1");
    });
    socket.on("error", reject);
    socket.on("close", () => resolve({ status: Number(text.slice(9, 12)), text, reused, session: offered }));
  });
}

function echo(answer: Answer): Echo {
  return JSON.parse(answer.text.slice(answer.text.indexOf("{"), answer.text.lastIndexOf("}") + 1)) as Echo;
}

async function serve(
  name: string,
  clientAuth: Partial<ClientAuthDocument>,
  feature: { pass?: boolean; required?: boolean } = {},
): Promise<void> {
  const auth: ClientAuthDocument = { authority: "ours", verify: "on", depth: 1, ...clientAuth };
  const route = routeDocument("/", "a", Object.keys(feature).length === 0 ? {} : { clientCertificate: feature });
  await plane.apply({ hosts: byName(hostDocument(name, [route], { tls: { clientAuth: auth } })) });
}

beforeAll(async () => {
  upstream = await startUpstream("a");
  const cache = { name: "ssl_session_cache", args: ["shared:SSL:1m"] };
  plane = await DataPlane.start((view) => ({ ...view, http: [...view.http, cache] }));
  await plane.apply({
    certificates: {
      upsert: { ours: ours.certificate, theirs: theirs.certificate, "ours-revoked": `${ours.certificate}\n${ours.revocationList(alice)}` },
    },
    backends: byName(backendDocument("a", [upstream])),
    hosts: byName(hostDocument("plain.test", [routeDocument("/", "a")])),
  });
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.close();
});

test.each(["TLSv1.2", "TLSv1.3"] as const)("%s: on lets in who is certified, others get 400", async (version) => {
  await serve("on.test", {});
  expect((await ask({ sni: "on.test", client: alice, version })).status).toBe(200);
  expect((await ask({ sni: "on.test", version })).text).toContain("No required SSL certificate was sent");
  expect((await ask({ sni: "on.test", client: mallory, version })).text).toContain("The SSL certificate error");
  expect((await ask({ sni: "on.test", client: ours.issue("late", -1), version })).status).toBe(400);
  expect((await ask({ sni: "plain.test", client: mallory, version })).status).toBe(200);
});

test.each(["TLSv1.2", "TLSv1.3"] as const)("%s: a session resumes on its own host and on no other", async (version) => {
  await serve("a.test", {});
  await serve("b.test", { verify: "optional" });
  const first = await ask({ sni: "a.test", client: alice, version });
  expect(first.session).toBeDefined();
  const again = await ask({ sni: "a.test", session: first.session, version });
  expect([again.status, again.reused]).toEqual([200, true]);
  expect(echo(again).headers["ssl-client-verify"]).toBe("SUCCESS");
  for (const sni of ["b.test", "plain.test"]) {
    const elsewhere = await ask({ sni, session: first.session, version });
    expect([elsewhere.status, elsewhere.reused]).toEqual([200, false]);
    expect(echo(elsewhere).headers["ssl-client-verify"]).toBe(sni === "b.test" ? "NONE" : undefined);
  }
  const plain = await ask({ sni: "plain.test", version });
  const intruder = await ask({ sni: "a.test", session: plain.session, version });
  expect([intruder.status, intruder.reused]).toEqual([400, false]);
});

test("a session made under the former authority does not resume", async () => {
  await serve("moved.test", {});
  const before = await ask({ sni: "moved.test", client: alice });
  await serve("moved.test", { authority: "theirs" });
  const after = await ask({ sni: "moved.test", session: before.session });
  expect([after.status, after.reused]).toEqual([400, false]);
  expect((await ask({ sni: "moved.test", client: mallory })).status).toBe(200);
});

test("a connection to one host does not carry another host's requests", async () => {
  await serve("a.test", {});
  await serve("b.test", { verify: "optional" });
  expect((await ask({ sni: "a.test", host: "b.test", client: alice })).status).toBe(421);
  expect((await ask({ sni: "plain.test", host: "a.test", client: alice })).status).toBe(421);
  expect((await ask({ sni: "a.test", host: "plain.test", client: alice })).status).toBe(200);
  expect((await ask({ sni: undefined, host: "a.test", client: alice })).status).toBe(400);
  expect(echo(await ask({ sni: undefined, host: "b.test", client: alice })).headers["ssl-client-verify"]).toBe("NONE");
});

test("optional and optional_no_ca", async () => {
  await serve("o.test", { verify: "optional" });
  expect((await ask({ sni: "o.test" })).status).toBe(200);
  expect((await ask({ sni: "o.test", client: mallory })).status).toBe(400);
  await serve("o.test", { verify: "optional_no_ca" }, { pass: true });
  const seen = echo(await ask({ sni: "o.test", client: mallory })).headers;
  expect(seen["ssl-client-verify"]).toMatch(/^FAILED:/);
  expect(seen["ssl-client-subject-dn"]).toBe("CN=mallory");
  expect(seen["ssl-client-issuer-dn"]).toBe("CN=theirs");
  expect(decodeURIComponent(String(seen["ssl-client-cert"]))).toContain("-----BEGIN CERTIFICATE-----");
  expect((await ask({ sni: "o.test", client: ours.issue("late", -1) })).status).toBe(400);
});

test("the depth counts intermediate certificates", async () => {
  const deep = new Authority("deep", middle);
  const chained = { ...middle.issue("carol") };
  const carol = { key: chained.key, cert: `${chained.cert}\n${middle.certificate}` };
  const far = deep.issue("dave");
  const dave = { key: far.key, cert: `${far.cert}\n${deep.certificate}\n${middle.certificate}` };
  await serve("d.test", { depth: 1 });
  expect((await ask({ sni: "d.test", client: carol })).status).toBe(200);
  expect((await ask({ sni: "d.test", client: dave })).status).toBe(400);
  await serve("d.test", { depth: 2 });
  expect((await ask({ sni: "d.test", client: dave })).status).toBe(200);
});

test("a revoked certificate is bad", async () => {
  await serve("r.test", { authority: "ours-revoked" });
  expect((await ask({ sni: "r.test", client: alice })).status).toBe(400);
  expect((await ask({ sni: "r.test", client: bob })).status).toBe(200);
});

test("an authority that is not there ends the handshake", async () => {
  await serve("lost.test", { authority: "nowhere" });
  await expect(ask({ sni: "lost.test", client: alice })).rejects.toThrow();
});

test("the expression must match the whole common name", async () => {
  await serve("cn.test", { commonName: "ali" });
  expect((await ask({ sni: "cn.test", client: alice })).status).toBe(403);
  await serve("cn.test", { commonName: "bob|alice" });
  expect((await ask({ sni: "cn.test", client: alice })).status).toBe(200);
  expect((await ask({ sni: "cn.test", client: ours.issue("x,CN=alice") })).status).toBe(403);
  await serve("cn.test", { commonName: 'bob, the "builder" \\+ co' });
  expect((await ask({ sni: "cn.test", client: bob })).status).toBe(200);
  await serve("cn.test", { commonName: "(" });
  expect((await ask({ sni: "cn.test", client: alice })).status).toBe(403);
  await serve("cn.test", { commonName: ".*", verify: "optional" });
  expect((await ask({ sni: "cn.test" })).status).toBe(403);
});

test("an error page is a redirect or a path of the same host", async () => {
  await serve("e.test", { errorPage: "https://errors.test/sorry" });
  expect((await ask({ sni: "e.test", path: "/x?y=1" })).text).toMatch(
    /^HTTP\/1.1 302[\s\S]*\r\nlocation: https:\/\/errors.test\/sorry\r\n/i,
  );
  await serve("e.test", { errorPage: "/sorry" });
  const page = echo(await ask({ sni: "e.test", path: "/x?y=1" }));
  expect(page.uri).toBe("/sorry");
  expect(page.headers["ssl-client-verify"]).toBe("NONE");
});

test("plain http is refused where a certificate is needed", async () => {
  await serve("h.test", {}, { required: true });
  expect((await plane.get("h.test", "/")).status).toBe(403);
  await serve("h.test", { verify: "optional" });
  expect((await plane.get("h.test", "/")).status).toBe(200);
});
