/** Annotations: custom-http-errors, default-backend, disable-proxy-intercept-errors. */

import { feature, type Look, row } from "../catalog/feature.ts";
import { bool, type Kind, listOf, pattern, serviceName } from "../catalog/kinds.ts";
import type { Directive } from "../model/model.ts";

// 499 is nginx's own mark for a client that went away: it takes no page
const status = pattern("status 400 to 599", /^(?!499)[45]\d\d$/, "404", "302");
const statuses: Kind<readonly string[]> = listOf(status);

/** Errors with these statuses are answered by "@error"; intercept: also those that come from the upstream. */
export function errorPageDirectives(codes: readonly (string | number)[], intercept: boolean): Directive[] {
  // without "=": the page's hook reads the status, then forgets it
  const sorted = [...new Set(codes.map(String))].sort();
  return [
    { name: "error_page", args: [...sorted, "@error"] },
    { name: "proxy_intercept_errors", args: [intercept ? "on" : "off"] },
  ];
}

/**
 * Backend of annotation default-backend. Names may run together ("a-b" and "c", "a" and "b-c"): where both Services exist
 * neither gets the short one.
 */
export function standInId(look: Look, namespace: string, service: string): string {
  const text = `${namespace}-${service}`;
  for (let i = text.indexOf("-"); i !== -1; i = text.indexOf("-", i + 1)) {
    const isOther = i !== namespace.length && look.service(text.slice(0, i), text.slice(i + 1)) !== undefined;
    if (isOther) return `custom-default-backend-${namespace}/${service}`;
  }
  return `custom-default-backend-${text}`;
}

export const customErrors = feature({
  name: "custom-errors",
  rows: {
    "custom-http-errors": row({
      kind: statuses,
      default: undefined,
      configMapKey: "custom-http-errors",
      risk: "low",
      onInvalid: "reject",
      applies: "profile",
      doc: "Status codes of this location (spaces allowed around items) that are replaced by the default backend's answer (custom default-backend of the Ingress when it has endpoints, else the global default). Replaces the ConfigMap's list.",
    }),
    "default-backend": row({
      kind: serviceName,
      default: undefined,
      risk: "low",
      onInvalid: "reject",
      doc: "Service (first port) used when the location's own Service has no endpoints, and for custom-http-errors of this Ingress.",
    }),
    "disable-proxy-intercept-errors": row({
      kind: bool,
      default: false,
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "Answers of the upstream pass as they are; only errors made by the proxy itself are replaced.",
    }),
  },
  build(v, place) {
    const service = v["default-backend"];
    const pages = (v["custom-http-errors"] ?? []).length > 0;
    const { namespace } = place.ingress.metadata;
    const known = service !== undefined && place.look.service(namespace, service) !== undefined;
    if (!known && !pages) return undefined;
    return {
      customErrors: {
        ...(known ? { backend: standInId(place.look, namespace, service) } : {}),
        ...(pages ? { pages: true } : {}),
      },
    };
  },
  fixed(v, place) {
    const codes = v["custom-http-errors"] ?? [];
    const off = v["disable-proxy-intercept-errors"];
    if (codes.length > 0) return errorPageDirectives(codes, !off);
    return off && place.settings["custom-http-errors"].length > 0 ? [{ name: "proxy_intercept_errors", args: ["off"] }] : [];
  },
});
