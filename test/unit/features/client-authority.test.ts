import { expect, test } from "vitest";
import type { Look } from "../../../control/catalog/feature.ts";
import { defaultSettings } from "../../../control/catalog/settings.ts";
import { authorityOf } from "../../../control/features/client-authority.ts";
import type { Secret } from "../../../control/source/kinds.ts";
import { Authority } from "../../kit/authority.ts";

const ours = new Authority("ours");
const foreign = { ...defaultSettings, "allow-cross-namespace-resources": true };

function secret(data: Readonly<Record<string, string>>): Secret {
  const metadata = {
    namespace: "default",
    name: "clients",
    uid: "u",
    resourceVersion: "1",
    annotations: {},
    labels: {},
    creationTimestamp: 0,
  };
  return { kind: "Secret", metadata, type: "Opaque", data } as unknown as Secret;
}

function find(text: string, data: Readonly<Record<string, string>> | undefined, namespace = "default", settings = defaultSettings) {
  const look = { secret: () => (data === undefined ? undefined : secret(data)) } as unknown as Look;
  return authorityOf(text, namespace, settings, look);
}

test("certificates come first, revocation lists after them, and the id follows the text", () => {
  const list = ours.revocationList();
  const plain = find("default/clients", { "ca.crt": `comment\n${ours.certificate}` });
  const listed = find("default/clients", { "ca.crt": ours.certificate, "ca.crl": list });
  if (!plain.ok || !listed.ok) throw new Error("refused");
  expect(plain.authority.pem.trim()).toBe(ours.certificate.trim());
  expect(listed.authority.pem).toContain("BEGIN X509 CRL");
  expect(listed.authority.pem.indexOf("BEGIN CERTIFICATE")).toBeLessThan(listed.authority.pem.indexOf("BEGIN X509 CRL"));
  expect(listed.authority.id).not.toBe(plain.authority.id);
});

test.each([
  ["no namespace", "clients", {}, "reference-missing"],
  ["too many parts", "a/b/c", {}, "reference-missing"],
  ["no Secret", "default/clients", undefined, "reference-missing"],
  ["another namespace", "other/clients", {}, "reference-refused"],
  ["no ca.crt", "default/clients", { "tls.crt": ours.certificate }, "certificate-invalid"],
  [
    "a ca.crt that is none",
    "default/clients",
    { "ca.crt": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----" },
    "certificate-invalid",
  ],
  ["a ca.crl that is none", "default/clients", { "ca.crt": ours.certificate, "ca.crl": "revoked" }, "certificate-invalid"],
  [
    "a ca.crl cut short",
    "default/clients",
    { "ca.crt": ours.certificate, "ca.crl": ours.revocationList().replace(/\n.{20}/, "\n") },
    "certificate-invalid",
  ],
] as const)("%s is refused", (_, text, data, code) => {
  expect(find(text, data)).toMatchObject({ ok: false, code });
});

test("another namespace is allowed where the ConfigMap says so", () => {
  expect(find("other/clients", { "ca.crt": ours.certificate }, "default", foreign).ok).toBe(true);
});
