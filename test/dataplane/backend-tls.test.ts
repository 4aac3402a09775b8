import { mkdtempSync, rmSync } from "node:fs";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Profile } from "../../control/plan/conf-view.ts";
import { profileOf } from "../../control/plan/profiles.ts";
import { backendDocument, byName, DataPlane, hostDocument, makeCertificate, routeDocument } from "../kit/data-plane.ts";

let plane: DataPlane;
let server: https.Server;

interface Seen {
  readonly client: string;
  readonly sni: string;
  /** The same for requests of one connection. */
  readonly connection: number;
}

async function get(path: string): Promise<Seen> {
  const reply = await plane.get("app.test", path);
  expect(reply.status).toBe(200);
  return JSON.parse(reply.body) as Seen;
}

function httpsProfile(...fixed: { readonly name: string; readonly args: readonly string[] }[]): Profile {
  return profileOf({ protocol: "HTTPS", fixed, target: { kind: "backend", backend: "tls" } }) as Profile;
}

function showing(pair: { readonly certFile: string; readonly keyFile: string }, name: string) {
  return [
    { name: "proxy_ssl_certificate", args: [pair.certFile] },
    { name: "proxy_ssl_certificate_key", args: [pair.keyFile] },
    { name: "proxy_ssl_server_name", args: ["on"] },
    { name: "proxy_ssl_name", args: [name] },
  ];
}

beforeAll(async () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-tls-"));
  const [own, one, two] = ["backend.test", "client-one", "client-two"].map((name) => makeCertificate(dir, name));
  server = https.createServer({ cert: own!.cert, key: own!.key, requestCert: true, rejectUnauthorized: false }, (request, answer) => {
    const socket = request.socket as TLSSocket & { readonly servername?: string | false };
    const client = socket.getPeerCertificate().subject?.CN ?? "";
    answer.end(JSON.stringify({ client, sni: socket.servername || "", connection: socket.remotePort }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const profiles = {
    "/plain": httpsProfile(),
    "/one": httpsProfile(...showing(one!, "a.test")),
    "/one-buffered": httpsProfile(...showing(one!, "a.test"), { name: "proxy_buffering", args: ["on"] }),
    "/one-other-name": httpsProfile(...showing(one!, "b.test")),
    "/two": httpsProfile(...showing(two!, "a.test")),
    "/varying": httpsProfile(...showing(two!, "$arg_name")),
  };
  plane = await DataPlane.start((view) => ({ ...view, profiles: Object.values(profiles) }));
  rmSync(dir, { recursive: true });
  const port = String((server.address() as AddressInfo).port);
  const routes = Object.entries(profiles).map(([path, profile]) => routeDocument(path, "tls", {}, { profile: profile.id }));
  await plane.apply({
    backends: byName(backendDocument("tls", [{ address: "127.0.0.1", port }])),
    hosts: byName(hostDocument("app.test", routes)),
  });
});

afterAll(async () => {
  await plane?.stop();
  server?.closeAllConnections();
  server?.close();
});

test("a kept connection serves only requests with the same client certificate and name", async () => {
  const seen: Record<string, Seen> = {};
  for (const path of ["/plain", "/one", "/one-other-name", "/two"]) seen[path] = await get(path);
  expect(seen).toMatchObject({
    "/plain": { client: "", sni: "" },
    "/one": { client: "client-one", sni: "a.test" },
    "/one-other-name": { client: "client-one", sni: "b.test" },
    "/two": { client: "client-two", sni: "a.test" },
  });
  expect(new Set(Object.values(seen).map((s) => s.connection)).size).toBe(4);
  for (const path of Object.keys(seen)) expect(await get(path)).toEqual(seen[path]);
  expect(await get("/one-buffered")).toEqual(seen["/one"]);
});

test("under a name with variables no connection is kept", async () => {
  const first = await get("/varying?name=x.test");
  const second = await get("/varying?name=y.test");
  expect([first.sni, second.sni]).toEqual(["x.test", "y.test"]);
  expect(second.connection).not.toBe(first.connection);
});
