/** Objects and a context for the checks of admission. */

import type { AdmissionContext } from "../../../control/admission/check.ts";
import { Objects } from "../../../control/objects/objects.ts";
import type { Ingress } from "../../../control/source/kinds.ts";
import type { KubeObject } from "../../../control/source/source.ts";
import { buildOptions, objectOf } from "../../kit/build-input.ts";

const uid = "0f5b6c1e-9f4d-4a58-8c11-2f1d34ac9a01";

export interface Draft {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly age?: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly host?: string;
  readonly path?: string;
  readonly pathType?: string;
  readonly className?: string;
  readonly spec?: object;
}

/** age: seconds; larger is older. */
export function ingress(draft: Draft): Ingress {
  const { name = "web", namespace = "default", host = "app.test", path = "/", pathType = "Prefix", className = "nginx" } = draft;
  const created = new Date(Date.parse("2026-11-21T12:00:00Z") - (draft.age ?? 0) * 1000).toISOString();
  const backend = { service: { name: "echo", port: { number: 80 } } };
  const metadata = { name, namespace, uid: draft.uid ?? uid, creationTimestamp: created, annotations: draft.annotations ?? {} };
  const spec = draft.spec ?? { rules: [{ host, http: { paths: [{ path, pathType, backend }] } }] };
  return objectOf("Ingress", { metadata, spec: { ingressClassName: className, ...spec } }) as Ingress;
}

export function admissionContext(
  stored: readonly KubeObject[],
  data: Readonly<Record<string, string>> = {},
  more: Partial<AdmissionContext["options"]> = {},
): AdmissionContext {
  const objects = new Objects();
  const echo = { metadata: { name: "echo", namespace: "default" }, spec: { clusterIP: "10.0.0.1", ports: [{ port: 80 }] } };
  const all = [
    objectOf("IngressClass", { metadata: { name: "nginx" }, spec: { controller: "k8s.io/ingress-nginx" } }),
    objectOf("IngressClass", { metadata: { name: "foreign" }, spec: { controller: "other.test/controller" } }),
    objectOf("ConfigMap", { metadata: { name: "settings", namespace: "default" }, data }),
    objectOf("Service", echo),
    objectOf("Service", { ...echo, metadata: { name: "echo", namespace: "other" } }),
    ...stored,
  ];
  objects.change(all.map((object) => ({ type: "upsert", object })));
  const options = buildOptions({ configMap: "default/settings", ...more });
  return { objects, lastGood: new Map(), options };
}
