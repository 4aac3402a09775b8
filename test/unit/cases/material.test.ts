import { execFileSync } from "node:child_process";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { describe, expect, test } from "vitest";
import { generateKeys } from "../../cases/runner/certificate";
import { integer, oid, time } from "../../cases/runner/der";
import { htpasswdText } from "../../cases/runner/htpasswd";
import { createKeyPool, makeAuthority, makeMaterials } from "../../cases/runner/materials";

const pool = createKeyPool();
const fixtureCa = makeAuthority("fixture CA", generateKeys("ec256"));

describe("certificates", () => {
  test("carry subject and alternative names and are signed by the CA named", () => {
    const { texts } = makeMaterials(
      {
        root: { generate: "ca" },
        app: { generate: "cert", cn: "app.test", sans: ["app.test", "*.x.test", "127.0.0.1"], ca: "root", key: "ec256" },
      },
      fixtureCa,
      pool,
    );
    const leaf = new X509Certificate(texts.get("app.crt")!);
    const root = new X509Certificate(texts.get("root.crt")!);
    expect(leaf.subject).toBe("CN=app.test");
    expect(leaf.subjectAltName).toBe("DNS:app.test, DNS:*.x.test, IP Address:127.0.0.1");
    expect(leaf.checkIssued(root)).toBe(true);
    expect(leaf.verify(root.publicKey)).toBe(true);
    expect(root.ca).toBe(true);
    expect(leaf.ca).toBe(false);
    expect(leaf.checkPrivateKey(createPrivateKey(texts.get("app.key")!))).toBe(true);
  });
  test("negative days make one that has expired but was once valid", () => {
    const { texts } = makeMaterials({ old: { generate: "cert", cn: "old.test", days: -1, key: "ec256" } }, fixtureCa, pool);
    const old = new X509Certificate(texts.get("old.crt")!);
    expect(Date.parse(old.validTo)).toBeLessThan(Date.now());
    expect(Date.parse(old.validFrom)).toBeLessThan(Date.parse(old.validTo));
  });
  test("the fixture CA is there undeclared and signs", () => {
    const { texts } = makeMaterials({ a: { generate: "cert", cn: "a", ca: "fixture-ca", key: "rsa2048" } }, fixtureCa, pool);
    expect(new X509Certificate(texts.get("a.crt")!).verify(new X509Certificate(texts.get("fixture-ca.crt")!).publicKey)).toBe(true);
  });
  test("a CA that is not declared is an error", () => {
    expect(() => makeMaterials({ a: { generate: "cert", cn: "a", ca: "nobody" } }, fixtureCa, pool)).toThrow("nobody");
  });
  test("two certificates of a case have different keys", () => {
    const { texts } = makeMaterials(
      { a: { generate: "cert", cn: "a", key: "ec256" }, b: { generate: "cert", cn: "b", key: "ec256" } },
      fixtureCa,
      pool,
    );
    expect(texts.get("a.key")).not.toBe(texts.get("b.key"));
  });
});

describe("DER", () => {
  test("integers get a leading zero only where the sign bit would be set", () => {
    expect(integer(Buffer.from([0, 0, 0x7f])).toString("hex")).toBe("02017f");
    expect(integer(Buffer.from([0x80])).toString("hex")).toBe("02020080");
  });
  test("object identifiers and times", () => {
    expect(oid("1.2.840.113549.1.1.11").toString("hex")).toBe("06092a864886f70d01010b");
    expect(time(new Date("2026-11-21T12:00:00Z")).toString("latin1")).toBe("\x17\x0d261121120000Z");
    expect(time(new Date("2050-01-01T00:00:00Z")).toString("latin1")).toBe("\x18\x0f20500101000000Z");
  });
});

describe("password files", () => {
  test("sha is the known hash", () => {
    expect(htpasswdText({ alice: "secret" }, "sha")).toBe("alice:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n");
  });
  test("apr1 is what openssl makes of the same salt", () => {
    const [, salt = "", hash] = htpasswdText({ alice: "secret" }, "apr1").trim().split("$").slice(1);
    const again = execFileSync("openssl", ["passwd", "-apr1", "-salt", salt, "secret"]).toString().trim();
    expect(again).toBe(`$apr1$${salt}$${hash}`);
  });
  test("one line a user", () => {
    expect(htpasswdText({ a: "1", b: "2" }, "sha").trim().split("\n")).toHaveLength(2);
  });
});
