import tls from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  backendDocument,
  byName,
  DataPlane,
  hostDocument,
  makeCertificate,
  routeDocument,
  startUpstream,
  type Upstream,
} from "../kit/data-plane.ts";

let plane: DataPlane;
let a: Upstream;

interface Seen {
  readonly cn: string;
  readonly kind: string;
  readonly alpn: string | false | null;
}

function handshake(servername: string | undefined, options: tls.ConnectionOptions = {}): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const sni = servername === undefined ? {} : { servername };
    const socket = tls.connect(
      { host: "127.0.0.1", port: plane.ports.https, rejectUnauthorized: false, ALPNProtocols: ["h2", "http/1.1"], ...sni, ...options },
      () => {
        const certificate = socket.getPeerX509Certificate()!;
        resolve({
          cn: certificate.subject.replace("CN=", ""),
          kind: certificate.publicKey.asymmetricKeyType ?? "",
          alpn: socket.alpnProtocol,
        });
        socket.destroy();
      },
    );
    socket.on("error", reject);
  });
}

function pem(name: string, kind?: "rsa" | "ec"): string {
  const { cert, key } = makeCertificate(plane.dir, name, kind);
  return `${cert}\n${key}`;
}

beforeAll(async () => {
  a = await startUpstream("a");
  plane = await DataPlane.start();
  await plane.apply({ backends: byName(backendDocument("a", [a])), hosts: byName(hostDocument("app.test", [routeDocument("/", "a")])) });
});

afterAll(async () => {
  await plane?.stop();
  await a?.close();
});

test("without any certificate document the default of nginx.conf is shown", async () => {
  expect(await handshake("app.test")).toMatchObject({ cn: "default.test", alpn: "h2" });
  expect((await handshake(undefined)).cn).toBe("default.test");
});

test("SNI chooses: exact name in any case, one-label wildcard, then the default document", async () => {
  await plane.apply({
    certificates: { upsert: { app: pem("app.test"), wild: pem("*.wild.test"), def: pem("fallback.test") } },
    servers: { upsert: { "app.test": "app", "*.wild.test": "wild", _: "def", "gone.test": "missing" } },
  });
  const asked = ["app.test", "APP.Test.", "x.wild.test", "a.b.wild.test", "other.test", "gone.test", undefined];
  const seen = await Promise.all(asked.map(async (name) => (await handshake(name)).cn));
  expect(seen).toEqual(["app.test", "app.test", "*.wild.test", "fallback.test", "fallback.test", "fallback.test", "fallback.test"]);
});

test("a replaced certificate is shown by the next handshake; a broken one gives way to the default", async () => {
  await plane.apply({ certificates: { upsert: { app: pem("new.test") } } });
  expect((await handshake("app.test")).cn).toBe("new.test");
  await plane.apply({ certificates: { upsert: { app: "-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----\n" } } });
  expect((await handshake("app.test")).cn).toBe("fallback.test");
  await plane.apply({ servers: { remove: ["_"] } });
  expect((await handshake("app.test")).cn).toBe("default.test");
});

test("two pairs in one entry serve clients of either kind", async () => {
  await plane.apply({
    certificates: { upsert: { both: `${pem("both.test", "rsa")}\n${pem("both.test", "ec")}` } },
    servers: { upsert: { "both.test": "both" } },
  });
  const only = (ciphers: string) => handshake("both.test", { maxVersion: "TLSv1.2", ciphers });
  expect(await only("ECDHE-RSA-AES128-GCM-SHA256")).toMatchObject({ cn: "both.test", kind: "rsa" });
  expect(await only("ECDHE-ECDSA-AES128-GCM-SHA256")).toMatchObject({ cn: "both.test", kind: "ec" });
});
