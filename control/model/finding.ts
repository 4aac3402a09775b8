/** A problem in somebody's object: data that log, Events, dbg, admission and doctor all print from here. */

import { type ObjectRef, refText } from "./ids.ts";

export type Severity = "error" | "warning" | "info";

/** One row per code: how bad it is and what the reader can do about it. */
export const findingCodes = {
  "file-unreadable": { severity: "error", hint: "Mend the file; the objects it held before go on being served." },
  "object-malformed": { severity: "error", hint: "Mend the object; what it said before goes on being served." },
  "object-duplicate": { severity: "warning", hint: "Keep one definition of the object; the first in file order is used." },
  "annotation-invalid": { severity: "error", hint: "Correct the value; docs/annotations.md has the grammar." },
  "annotation-unknown": { severity: "warning", hint: "Remove the annotation or correct its name; see docs/annotations.md." },
  "annotation-unsupported": {
    severity: "warning",
    hint: "The annotation has no effect here; docs/annotations.md names what to use instead.",
  },
  "annotation-refused": { severity: "error", hint: "Raise annotations-risk-level in the ConfigMap, or remove the annotation." },
  "location-denied": { severity: "error", hint: "The locations of this Ingress answer 503 until the annotation is corrected." },
  "setting-invalid": { severity: "error", hint: "Correct the ConfigMap key; the default is used meanwhile." },
  "setting-unknown": { severity: "warning", hint: "Remove the key or correct its name; see docs/configmap.md." },
  "class-missing": { severity: "warning", hint: "Create the IngressClass or correct spec.ingressClassName." },
  "host-invalid": { severity: "error", hint: "Use a DNS name, or *.name for a wildcard." },
  "path-invalid": { severity: "error", hint: "Use an absolute path; regular expressions need pathType ImplementationSpecific." },
  "path-conflict": { severity: "warning", hint: "Two Ingresses claim one path: the older one wins. Remove one of them." },
  "alias-conflict": { severity: "warning", hint: "Remove the alias, or let one host alone have the name." },
  "backend-conflict": {
    severity: "warning",
    hint: "Balancing and sessions belong to a Service port: give its Ingresses the same settings, or split the Service.",
  },
  "service-missing": { severity: "error", hint: "Create the Service, or correct the backend's name; the path answers 503 meanwhile." },
  "port-missing": { severity: "error", hint: "Use a port that the Service has; the path answers 503 meanwhile." },
  "endpoints-missing": { severity: "warning", hint: "No pod of the Service is ready; the path answers 503 meanwhile." },
  "backend-unsupported": { severity: "error", hint: "Only Service backends are served." },
  "external-name-refused": { severity: "error", hint: "Use a DNS name or address that is not this machine's own." },
  "external-name-unresolved": { severity: "warning", hint: "The name does not resolve; the path answers 503 until it does." },
  "secret-missing": { severity: "error", hint: "Create the Secret or correct its name; the default certificate is used meanwhile." },
  "certificate-invalid": { severity: "error", hint: "Put a PEM certificate chain and its key into tls.crt and tls.key." },
  "certificate-mismatch": { severity: "error", hint: "Use a certificate that names the host; the default certificate is used meanwhile." },
  "certificate-expiring": { severity: "warning", hint: "Renew the certificate." },
  "canary-unmatched": { severity: "warning", hint: "A canary needs a primary Ingress with the same host, path and pathType." },
  "configmap-missing": { severity: "error", hint: "Create the ConfigMap or correct its name." },
  "reference-missing": { severity: "error", hint: "Create the object that the annotation names." },
  "reference-refused": {
    severity: "error",
    hint: "Set allow-cross-namespace-resources in the ConfigMap, or use an object of the same namespace.",
  },
  "stream-invalid": { severity: "error", hint: "Correct the entry; other ports are not touched by it." },
  "port-taken": { severity: "error", hint: "Something else listens on that port; use another one." },
  "passthrough-impossible": { severity: "error", hint: "TLS of the host is ended here meanwhile." },
  "profile-limit": { severity: "warning", hint: "Use fewer distinct combinations of buffering, size and protocol settings." },
  "snippet-refused": { severity: "error", hint: "Set allow-snippet-annotations and annotations-risk-level: Critical in the ConfigMap." },
  "module-missing": { severity: "warning", hint: "Install the module, or take the key out of the ConfigMap." },
  "database-missing": {
    severity: "warning",
    hint: "Put the database into the folder (--geoip-dir), which is watched, or have it fetched (--maxmind-license-key, --maxmind-mirror).",
  },
  "spans-unsent": {
    severity: "warning",
    hint: "Correct otlp-collector-host and otlp-collector-port, or see why the collector refuses.",
  },
  "download-failed": {
    severity: "warning",
    hint: "Correct --maxmind-mirror or --maxmind-license-key, or put the database into the folder (--geoip-dir).",
  },
  "config-refused": { severity: "error", hint: "nginx refuses the setting; the last good configuration is served." },
  "dataplane-full": { severity: "error", hint: "Raise the dictionary's size with lua-shared-dicts; the last state goes on being served." },
} as const satisfies Record<string, { severity: Severity; hint: string }>;

export type FindingCode = keyof typeof findingCodes;

export interface Finding {
  readonly code: FindingCode;
  readonly about: ObjectRef;
  /** Field, annotation or file position, e.g. "spec.rules[0].http.paths[1].backend"; may be empty. */
  readonly at: string;
  /** What is wrong, one sentence without the object's name. */
  readonly text: string;
  readonly also?: readonly ObjectRef[];
}

export function severityOf(finding: Finding): Severity {
  return findingCodes[finding.code].severity;
}

/** One line for people: object, field, reason and hint. */
export function findingText(finding: Finding): string {
  const at = finding.at === "" ? "" : ` ${finding.at}:`;
  const also = finding.also === undefined ? "" : ` (see also ${finding.also.map(refText).join(", ")})`;
  return `${refText(finding.about)}:${at} ${finding.text}${also} [${finding.code}] ${findingCodes[finding.code].hint}`;
}
