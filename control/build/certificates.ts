/** Secrets → certificates; which certificate a host presents. */

import { createPrivateKey, X509Certificate } from "node:crypto";
import { type Certificate, Private } from "../model/certificate.ts";
import type { Finding } from "../model/finding.ts";
import type { ObjectRef } from "../model/ids.ts";
import type { Secret } from "../source/kinds.ts";

export type ParsedCertificate =
  | { readonly ok: true; readonly certificate: Certificate; readonly expires: Date }
  | { readonly ok: false; readonly reason: string };

const cache = new WeakMap<Secret, ParsedCertificate>();

/** The certificate of a Secret with tls.crt and tls.key; remembered for as long as the object lives. */
export function certificateOf(secret: Secret): ParsedCertificate {
  let parsed = cache.get(secret);
  if (parsed === undefined) {
    parsed = parse(secret);
    cache.set(secret, parsed);
  }
  return parsed;
}

function parse(secret: Secret): ParsedCertificate {
  const chain = secret.data["tls.crt"];
  const key = secret.data["tls.key"];
  if (chain === undefined || chain.trim() === "") return { ok: false, reason: "it has no tls.crt" };
  if (key === undefined || key.trim() === "") return { ok: false, reason: "it has no tls.key" };
  const leafPem = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/.exec(chain);
  if (leafPem === null || leafPem[1] !== "CERTIFICATE") return { ok: false, reason: "tls.crt does not begin with a PEM certificate" };
  try {
    const leaf = new X509Certificate(leafPem[0]);
    const privateKey = createPrivateKey(key);
    if (!leaf.checkPrivateKey(privateKey)) return { ok: false, reason: "tls.key does not belong to the certificate in tls.crt" };
    // Every block of the chain is tried: nginx would refuse the chain for one that is broken.
    for (const block of chain.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []) new X509Certificate(block);
    const commonName = /(?:^|\n)CN=(.*)/.exec(leaf.subject)?.[1] ?? "";
    const dns = dnsNames(leaf);
    return {
      ok: true,
      expires: new Date(leaf.validTo),
      certificate: {
        id: secret.metadata.uid,
        chain: chain.trim(),
        key: new Private(key.trim()),
        names: dns.length > 0 ? dns : commonName === "" ? [] : [commonName.toLowerCase()],
        commonName,
        notAfter: Date.parse(leaf.validTo),
        source: { kind: "Secret", namespace: secret.metadata.namespace, name: secret.metadata.name },
      },
    };
  } catch (error) {
    return { ok: false, reason: `the certificate or key cannot be read: ${(error as Error).message}` };
  }
}

function dnsNames(leaf: X509Certificate): string[] {
  const text = leaf.subjectAltName ?? "";
  return [...text.matchAll(/DNS:("(?:[^"\\]|\\.)*"|[^,]+)/g)].map((m) => (m[1] ?? "").replace(/^"|"$/g, "").toLowerCase());
}

/** A name of the certificate covers the host; "*.x" covers one label, and a host "*.x" needs the very name. */
export function covers(names: readonly string[], host: string): boolean {
  const h = host.toLowerCase();
  const dot = h.indexOf(".");
  const wild = dot > 0 ? `*${h.slice(dot)}` : "";
  return names.some((n) => n === h || (n === wild && wild !== "" && !h.startsWith("*")));
}

/** What the owner of an Ingress should know of a Secret that cannot serve. */
export function certificateFinding(
  code: Finding["code"],
  about: ObjectRef,
  at: string,
  secretName: string,
  text: string,
  secret?: Secret,
): Finding {
  const also = secret === undefined ? {} : { also: [{ kind: "Secret", namespace: secret.metadata.namespace, name: secret.metadata.name }] };
  return { code, about, at, text: `Secret ${secretName}: ${text}`, ...also };
}
