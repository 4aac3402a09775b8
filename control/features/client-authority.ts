/** auth-tls-secret → the authority whose certificates clients must show. */

import { createHash, X509Certificate } from "node:crypto";
import type { Look } from "../catalog/feature.ts";
import type { Settings } from "../catalog/settings.ts";
import type { FindingCode } from "../model/finding.ts";
import type { Secret } from "../source/kinds.ts";

export interface Authority {
  /** Changes with the text. */
  readonly id: string;
  /** PEM: certificates, then revocation lists. */
  readonly pem: string;
}

export type AuthorityFound =
  | { readonly ok: true; readonly authority: Authority }
  | { readonly ok: false; readonly code: FindingCode; readonly reason: string };

const cache = new WeakMap<Secret, AuthorityFound>();

/** `text`: namespace/name, as the annotation of an Ingress in that namespace has it. */
export function authorityOf(text: string, namespace: string, settings: Settings, look: Look): AuthorityFound {
  const [where = "", name = "", ...rest] = text.replace(/\s+/g, "").split("/");
  if (where === "" || name === "" || rest.length > 0) return no("reference-missing", `"${text}" is not namespace/name`);
  if (where !== namespace && !settings["allow-cross-namespace-resources"]) {
    return no("reference-refused", `Secret ${where}/${name} lies in another namespace`);
  }
  const secret = look.secret(where, name);
  if (secret === undefined) return no("reference-missing", `there is no Secret ${where}/${name}`);
  let found = cache.get(secret);
  if (found === undefined) {
    found = read(secret, `Secret ${where}/${name}`);
    cache.set(secret, found);
  }
  return found;
}

function no(code: FindingCode, reason: string): AuthorityFound {
  return { ok: false, code, reason };
}

const certificates = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;
const lists = /-----BEGIN X509 CRL-----\s*([A-Za-z0-9+/=\s]+?)\s*-----END X509 CRL-----/g;

function read(secret: Secret, what: string): AuthorityFound {
  const authorities = (secret.data["ca.crt"] ?? "").match(certificates) ?? [];
  if (authorities.length === 0) return no("certificate-invalid", `${what} has no certificate in ca.crt`);
  try {
    for (const pem of authorities) new X509Certificate(pem);
  } catch (error) {
    return no("certificate-invalid", `${what}: ca.crt cannot be read: ${(error as Error).message}`);
  }
  const listText = secret.data["ca.crl"] ?? "";
  const blocks = [...listText.matchAll(lists)];
  if (listText.trim() !== "" && (blocks.length === 0 || blocks.some((b) => !isSequence(b[1] ?? "")))) {
    return no("certificate-invalid", `${what}: ca.crl is no PEM revocation list`);
  }
  const pem = `${[...authorities, ...blocks.map((b) => b[0])].join("\n")}\n`;
  return { ok: true, authority: { id: `ca-${createHash("sha256").update(pem).digest("hex").slice(0, 32)}`, pem } };
}

/** DER of a SEQUENCE that is as long as it says. The rest is OpenSSL's to judge; a list it refuses ends the handshake. */
function isSequence(base64: string): boolean {
  const der = Buffer.from(base64, "base64");
  if (der[0] !== 0x30 || der.length < 4) return false;
  const first = der[1] ?? 0;
  const size = first & 0x7f;
  if (first < 0x80) return der.length === first + 2;
  return size > 0 && size <= 4 && der.length === der.readUIntBE(2, size) + 2 + size;
}
