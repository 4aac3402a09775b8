/** Annotations: backend-protocol. */

import { feature, row } from "../catalog/feature.ts";
import { oneOf } from "../catalog/kinds.ts";

export const backendProtocol = feature({
  name: "backend-protocol",
  rows: {
    "backend-protocol": row({
      kind: oneOf(["HTTP", "HTTPS", "AUTO_HTTP", "GRPC", "GRPCS", "FCGI"], true),
      default: "HTTP",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "Scheme to the upstream: http, https, scheme of the client request (AUTO_HTTP), grpc, grpcs, FastCGI. Stored as written: lower-case grpc/fcgi selects grpc_pass/fastcgi_pass but request headers then use proxy_set_header (not grpc_set_header), grpc timeouts and fastcgi_params are omitted (exact upper-case compare).",
    }),
  },
});
