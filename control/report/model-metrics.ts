/** What metrics say of the user's objects: certificates in use, Ingresses whose Service or endpoints are missing. */

import { X509Certificate } from "node:crypto";
import type { Certificate } from "../model/certificate.ts";
import type { Model } from "../model/model.ts";
import { family, labelText, prefix, type Sample } from "./exposition.ts";

interface Details {
  readonly identifier: string;
  readonly issuer_organization: string;
  readonly issuer_common_name: string;
  readonly serial_number: string;
  readonly public_key_algorithm: string;
}

const known = new WeakMap<Certificate, Details>();
const algorithms: Readonly<Record<string, string>> = { rsa: "RSA", ec: "ECDSA", dsa: "DSA", ed25519: "Ed25519" };

function detailsOf(certificate: Certificate): Details {
  let details = known.get(certificate);
  if (details === undefined) {
    const leaf = new X509Certificate(certificate.chain);
    const issuer = (name: string) => new RegExp(`(?:^|\\n)${name}=(.*)`).exec(leaf.issuer)?.[1] ?? "";
    const serial = BigInt(`0x${leaf.serialNumber || "0"}`).toString();
    details = {
      identifier: `${issuer("serialNumber")}-${serial}`,
      issuer_organization: issuer("O"),
      issuer_common_name: issuer("CN"),
      serial_number: serial,
      public_key_algorithm: algorithms[leaf.publicKey.asymmetricKeyType ?? ""] ?? "",
    };
    known.set(certificate, details);
  }
  return details;
}

export interface ModelMetricsOptions {
  readonly controllerClass: string;
  /** Labels of this controller, as text. */
  readonly labels: string;
  /** Expiry times are told by one replica only. */
  readonly isLeader: boolean;
  /** Ids of backends without an endpoint. */
  readonly empty: ReadonlySet<string>;
}

export function modelText(model: Model, options: ModelMetricsOptions): string {
  return certificateText(model, options) + orphanText(model, options);
}

function certificateText(model: Model, { controllerClass, isLeader }: ModelMetricsOptions): string {
  const expiry: Sample[] = [];
  const info: Sample[] = [];
  for (const { name, certificate: id } of model.hosts) {
    const certificate = model.certificates.get(name === "" ? model.defaultCertificate : (id ?? ""));
    if (certificate === undefined) continue;
    const { identifier, ...rest } = detailsOf(certificate);
    const source = certificate.source;
    const host = name === "" ? "_" : name;
    const labels = { namespace: source?.namespace ?? "", class: controllerClass, host, secret_name: source?.name ?? "", identifier };
    const until = Number.isFinite(certificate.notAfter) ? certificate.notAfter : Date.parse(new X509Certificate(certificate.chain).validTo);
    expiry.push({ labels: labelText(labels), value: Math.floor(until / 1000) });
    info.push({ labels: labelText({ ...labels, ...rest }), value: 1 });
  }
  const expires = family(`${prefix}ssl_expire_time_seconds`, "gauge", "End of the certificate's validity, seconds since 1970.", expiry);
  return (isLeader ? expires : "") + family(`${prefix}ssl_certificate_info`, "gauge", "The certificate that a host shows.", info);
}

function orphanText(model: Model, { labels, empty }: ModelMetricsOptions): string {
  const orphans = new Map<string, { readonly labels: string; service: boolean; endpoint: boolean }>();
  for (const host of model.hosts) {
    for (const { source, target } of host.routes) {
      const backend = target.kind === "backend" ? model.backends.get(target.backend) : undefined;
      // the default backend is no Service that the Ingress names
      if (source === undefined || backend?.source === undefined) continue;
      const key = `${source.namespace}/${source.name}`;
      const entry = orphans.get(key) ?? {
        labels: `${labels},${labelText({ namespace: source.namespace, ingress: source.name })}`,
        service: false,
        endpoint: false,
      };
      orphans.set(key, entry);
      entry.service ||= backend.endpoints.kind === "none";
      entry.endpoint ||= empty.has(backend.id);
    }
  }
  const samples = [...orphans.values()].flatMap((o) => [
    { labels: `${o.labels},type="no-service"`, value: o.service ? 1 : 0 },
    { labels: `${o.labels},type="no-endpoint"`, value: o.endpoint ? 1 : 0 },
  ]);
  return family(`${prefix}orphan_ingress`, "gauge", "1 when a Service of the Ingress, or all its endpoints, are missing.", samples);
}
