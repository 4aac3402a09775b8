/** Locations that only nginx itself enters. */

import type { InternalLocation, RequestHeader } from "./conf-view.ts";

/** The copy is no connection of the client's: an upgrade ends there. */
const mirrorHeaders: readonly RequestHeader[] = [
  { name: "Host", value: "$sluice_mirror_host" },
  { name: "Upgrade", value: "" },
  { name: "Connection", value: "" },
];

const mirror: InternalLocation = {
  name: "/~mirror",
  family: "http",
  directives: [
    { name: "proxy_ssl_server_name", args: ["on"] },
    { name: "proxy_intercept_errors", args: ["off"] },
    { name: "proxy_next_upstream", args: ["off"] },
  ],
  requestHeaders: mirrorHeaders,
  passTo: "$sluice_mirror",
};

export const internalLocations: readonly InternalLocation[] = [
  // where error pages of the ConfigMap and of profiles lead
  { name: "@error", family: "http", hook: "phases.error-page", directives: [{ name: "proxy_intercept_errors", args: ["off"] }] },
  mirror,
  {
    ...mirror,
    name: "/~mirror-bare",
    directives: [...mirror.directives, { name: "proxy_pass_request_body", args: ["off"] }],
    requestHeaders: [...mirrorHeaders, { name: "Content-Length", value: "" }],
  },
];
