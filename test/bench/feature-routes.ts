/** Routes with one feature each, to measure what it costs over a plain route. */

import { createHash } from "node:crypto";
import type { KubeObject } from "../kit/fixtures/objects.ts";
import { endpointSlices, ingress, type PodAddress, service } from "../kit/manifests.ts";

export interface FeatureRoute {
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Of each request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Requests go to another path than "/". */
  readonly path?: string;
  readonly canary?: Readonly<Record<string, string>>;
}

export const plainRoute: FeatureRoute = { name: "plain route", annotations: {} };

const user = Buffer.from("bench:secret").toString("base64");

/** The external authentication asks the backend itself, which answers 200. */
export function featureRoutes(pod: PodAddress): readonly FeatureRoute[] {
  const authUrl = `http://${pod.address}:${pod.port}/auth`;
  return [
    plainRoute,
    { name: "rewrite-target", annotations: { "rewrite-target": "/in/$1", "use-regex": "true" }, path: "/x/y" },
    { name: "profile (proxy-body-size)", annotations: { "proxy-body-size": "2m" } },
    { name: "cors", annotations: { "enable-cors": "true" }, headers: { Origin: "https://app.test" } },
    { name: "allow list of 20", annotations: { "allowlist-source-range": addresses(20) } },
    {
      name: "basic auth ({SHA})",
      annotations: { "auth-type": "basic", "auth-secret": "bench-users" },
      headers: { Authorization: `Basic ${user}` },
    },
    { name: "external auth", annotations: { "auth-url": authUrl } },
    { name: "external auth, cached", annotations: { "auth-url": authUrl, "auth-cache-key": "$remote_addr" } },
    { name: "rate limit (rps)", annotations: { "limit-rps": "1000000" } },
    { name: "connection limit", annotations: { "limit-connections": "1000" } },
    { name: "sticky cookie", annotations: { affinity: "cookie" }, headers: { Cookie: "INGRESSCOOKIE=1|bench" } },
    { name: "upstream-hash-by", annotations: { "upstream-hash-by": "$request_uri" } },
    { name: "ewma", annotations: { "load-balance": "ewma" } },
    { name: "canary by weight", annotations: {}, canary: { "canary-weight": "20" } },
    { name: "canary by header", annotations: {}, canary: { "canary-by-header": "x-side" }, headers: { "x-side": "never" } },
    { name: "upstream-vhost", annotations: { "upstream-vhost": "in.test" } },
    { name: "proxy-redirect", annotations: { "proxy-redirect-from": "http://in.test/", "proxy-redirect-to": "/" } },
    { name: "custom-http-errors", annotations: { "custom-http-errors": "500,503" } },
    { name: "traced (no collector)", annotations: { "enable-opentelemetry": "true" } },
    { name: "mirror", annotations: { "mirror-target": `http://${pod.address}:${pod.port}/mirror` } },
  ];
}

/** The last one is the client's. */
function addresses(count: number): string {
  return [...Array.from({ length: count - 1 }, (_, index) => `10.${index}.0.0/16`), "127.0.0.0/8"].join(",");
}

export function hostOf(index: number): string {
  return `feature-${index}.bench.test`;
}

/** The route number `index`, with a Service of its own. */
export function featureObjects(route: FeatureRoute, index: number, pod: PodAddress): readonly KubeObject[] {
  const name = `feature-${index}`;
  const paths = { [route.path === undefined ? "/" : "/x/(.*)"]: name };
  const objects = [
    service(name),
    ...endpointSlices(name, [pod]),
    ingress(name, { host: hostOf(index), annotations: route.annotations, paths }),
  ];
  if (route.canary === undefined) return objects;
  const side = `${name}-canary`;
  const annotations = { canary: "true", ...route.canary };
  return [
    ...objects,
    service(side),
    ...endpointSlices(side, [pod]),
    ingress(side, { host: hostOf(index), annotations, paths: { "/": side } }),
  ];
}

/** What the annotations name. */
export const usersSecret: KubeObject = {
  apiVersion: "v1",
  kind: "Secret",
  type: "Opaque",
  metadata: { name: "bench-users", namespace: "default" },
  data: { auth: Buffer.from(`bench:{SHA}${createHash("sha1").update("secret").digest("base64")}\n`).toString("base64") },
};
