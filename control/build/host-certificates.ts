/** Which certificate each host presents, from the tls sections and Secrets; findings for those that cannot. */

import type { Certificate } from "../model/certificate.ts";
import type { Finding } from "../model/finding.ts";
import type { ObjectRef } from "../model/ids.ts";
import type { RecordingLook } from "../objects/references.ts";
import type { Accepted } from "./accept.ts";
import { certificateFinding, certificateOf, covers } from "./certificates.ts";

const soon = 10 * 24 * 3600 * 1000;

export interface HostCertificateOptions {
  readonly defaultCertificate: string;
  readonly fakeCertificate: Certificate;
  readonly now: number;
}

export class HostCertificates {
  readonly #look: RecordingLook;
  readonly #options: HostCertificateOptions;
  readonly #findings: Finding[];
  readonly #used = new Map<string, Certificate>();
  readonly #reported = new Set<string>();
  readonly defaultId: string;

  constructor(look: RecordingLook, options: HostCertificateOptions, findings: Finding[]) {
    this.#look = look;
    this.#options = options;
    this.#findings = findings;
    const fallback = this.#default();
    this.#used.set(fallback.id, fallback);
    this.defaultId = fallback.id;
  }

  #default(): Certificate {
    const { defaultCertificate, fakeCertificate } = this.#options;
    if (defaultCertificate === "") return fakeCertificate;
    const [namespace = "", name = ""] = defaultCertificate.split("/");
    const about: ObjectRef = { kind: "Secret", namespace, name };
    return this.#read(namespace, name, about, "--default-ssl-certificate") ?? fakeCertificate;
  }

  /** The certificate id, undefined when no Ingress of the host has a tls section. `owners`: oldest first. */
  of(host: string, owners: readonly Accepted[]): string | undefined {
    const owner = owners.find((o) => o.ingress.spec.tls.length > 0);
    if (owner === undefined) return undefined;
    const found = this.#choose(host, owner);
    if (found === undefined) return this.defaultId;
    this.#used.set(found.id, found);
    return found.id;
  }

  #choose(host: string, owner: Accepted): Certificate | undefined {
    const { tls } = owner.ingress.spec;
    const namespace = owner.ref.namespace;
    const listed = tls.findIndex((t) => t.hosts.some((h) => h.toLowerCase() === host));
    if (listed >= 0) {
      const name = tls[listed]?.secretName ?? "";
      if (name === "") return undefined;
      const certificate = this.#read(namespace, name, owner.ref, `spec.tls[${listed}].secretName`);
      if (certificate === undefined || this.#fits(certificate, host, namespace, name, owner.ref, listed)) return certificate;
      return undefined;
    }
    for (const [i, t] of tls.entries()) {
      if (t.secretName === "") continue;
      const certificate = this.#read(namespace, t.secretName, owner.ref, `spec.tls[${i}].secretName`);
      if (certificate !== undefined && covers(certificate.names, host)) return certificate;
    }
    return undefined;
  }

  #fits(certificate: Certificate, host: string, namespace: string, name: string, about: ObjectRef, index: number): boolean {
    if (covers(certificate.names, host)) return true;
    const names = certificate.names.slice(0, 5).join(", ");
    const secret = this.#look.secret(namespace, name);
    const text = `the certificate is for ${names === "" ? "no name" : names}, not for ${host}`;
    this.#report(certificateFinding("certificate-mismatch", about, `spec.tls[${index}]`, `${namespace}/${name}`, text, secret));
    return false;
  }

  #read(namespace: string, name: string, about: ObjectRef, at: string): Certificate | undefined {
    const secret = this.#look.secret(namespace, name);
    if (secret === undefined) {
      this.#report(certificateFinding("secret-missing", about, at, `${namespace}/${name}`, "there is no such Secret"));
      return undefined;
    }
    const parsed = certificateOf(secret);
    if (!parsed.ok) {
      this.#report(certificateFinding("certificate-invalid", about, at, `${namespace}/${name}`, parsed.reason, secret));
      return undefined;
    }
    const left = parsed.certificate.notAfter - this.#options.now;
    if (left < soon) {
      const text = `the certificate ${left < 0 ? "expired" : "expires"} on ${parsed.expires.toISOString()}`;
      this.#report(certificateFinding("certificate-expiring", about, at, `${namespace}/${name}`, text, secret));
    }
    return parsed.certificate;
  }

  #report(finding: Finding): void {
    const key = JSON.stringify([finding.code, finding.about, finding.at, finding.text]);
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#findings.push(finding);
  }

  all(): ReadonlyMap<string, Certificate> {
    return this.#used;
  }
}
