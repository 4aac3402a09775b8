/** Annotations: custom-errors. */

import { feature, row } from "../catalog/feature.ts";
import { bool, int, listOf, serviceName } from "../catalog/kinds.ts";

export const customErrors = feature({
  name: "custom-errors",
  rows: {
    "custom-http-errors": row({
      kind: listOf(int(400, 599)),
      default: undefined,
      configMapKey: "custom-http-errors",
      risk: "low",
      onInvalid: "reject",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Status codes of this location (spaces allowed around items) that are replaced by the default backend's answer (custom default-backend of the Ingress when it has endpoints, else the global default).",
    }),
    "default-backend": row({
      kind: serviceName,
      default: undefined,
      risk: "low",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      doc: "Service (first port) used when the location's own Service has no endpoints, and for custom-http-errors of this Ingress.",
    }),
    "disable-proxy-intercept-errors": row({
      kind: bool,
      default: false,
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      support: "none",
      note: "Not built yet.",
      doc: "Keep the error_page entries of custom-http-errors but do not intercept upstream answers (only locally generated errors are replaced).",
    }),
  },
});
