import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer } from "node:tls";
import { expect, test } from "vitest";
import { fakeSubject, selfSigned } from "../../../control/run/self-signed.ts";

const noon = Date.parse("2026-11-21T12:00:00Z");
const clock = { now: () => noon, pause: () => Promise.resolve() };

test("openssl reads the certificate, finds nothing wrong, and trusts it by itself", async () => {
  const { certificate } = await selfSigned();
  const folder = mkdtempSync(join(tmpdir(), "sluice-cert-"));
  try {
    const file = join(folder, "cert.pem");
    writeFileSync(file, certificate);
    const verified = execFileSync("openssl", ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", file, "-partial_chain", file], {
      encoding: "utf8",
    });
    expect(verified).toContain("OK");
    const text = execFileSync("openssl", ["x509", "-in", file, "-noout", "-text"], { encoding: "utf8" });
    expect(text).toContain("Subject: O = Acme Co, CN = Kubernetes Ingress Controller Fake Certificate");
    expect(text).toContain("DNS:ingress.local");
    expect(text).toContain("TLS Web Server Authentication");
    expect(text).toContain("Public-Key: (2048 bit)");
    expect(text).toContain("sha256WithRSAEncryption");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("it holds for 365 days, and no two are alike", async () => {
  const [one, two] = await Promise.all([selfSigned(fakeSubject, clock), selfSigned(fakeSubject, clock)]);
  const certificate = new X509Certificate(one.certificate);
  expect(Date.parse(certificate.validFrom)).toBe(noon);
  expect(Date.parse(certificate.validTo) - noon).toBe(365 * 86_400_000);
  expect(certificate.serialNumber).not.toBe(new X509Certificate(two.certificate).serialNumber);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
});

test("dates beyond 2049 are written so that they are understood", async () => {
  const { certificate } = await selfSigned({ ...fakeSubject, days: 365 * 100 }, clock);
  expect(new Date(new X509Certificate(certificate).validTo).getUTCFullYear()).toBe(2126);
});

test("a TLS server can use it", async () => {
  const { certificate, key } = await selfSigned({ ...fakeSubject, dnsNames: ["a.test", "*.b.test"] });
  const server = createServer({ cert: certificate, key }, (socket) => socket.end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const authorized = await new Promise<boolean>((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", servername: "x.b.test", ca: certificate }, () => {
      resolve(socket.authorized);
      socket.destroy();
    });
    socket.on("error", reject);
  });
  server.close();
  expect(authorized).toBe(true);
});
