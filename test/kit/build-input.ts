/** What build() takes: options with every flag at its default, and objects as a source hands them on. */

import type { BuildOptions } from "../../control/build/build.ts";
import { Private } from "../../control/model/certificate.ts";
import { reduceObject } from "../../control/source/kinds.ts";
import type { KubeObject } from "../../control/source/source.ts";

export const annotationPrefix = "nginx.ingress.kubernetes.io";

export function buildOptions(more: Partial<BuildOptions> = {}): BuildOptions {
  return {
    controllerClass: "k8s.io/ingress-nginx",
    ingressClass: "nginx",
    ingressClassByName: false,
    watchIngressWithoutClass: false,
    watchNamespace: "",
    watchNamespaceSelector: undefined,
    disableCatchAll: false,
    annotations: { prefix: annotationPrefix, validate: true, deepInspect: true },
    configMap: "",
    tcpServicesConfigmap: "",
    udpServicesConfigmap: "",
    enableSslPassthrough: false,
    disableExternalName: false,
    reservedPorts: new Set(),
    defaultBackendService: "",
    defaultCertificate: "",
    httpsPort: 443,
    place: undefined,
    fakeCertificate: { id: "fake", chain: "", key: new Private(""), names: [], commonName: "", notAfter: Number.POSITIVE_INFINITY },
    now: 0,
    ...more,
  };
}

/** Throws what the reduction finds wrong. */
export function objectOf(kind: Parameters<typeof reduceObject>[0], raw: unknown): KubeObject {
  const reduced = reduceObject(kind, raw);
  if ("error" in reduced) throw new Error(reduced.error.text);
  return reduced.ok;
}
