/** Annotations: ssl-redirect. */

import { feature, row } from "../catalog/feature.ts";
import { bool } from "../catalog/kinds.ts";

export const sslRedirect = feature({
  name: "ssl-redirect",
  rows: {
    "ssl-redirect": row({
      kind: bool,
      default: true,
      configMapKey: "ssl-redirect",
      risk: "low",
      onInvalid: "default",
      doc: "Plain-http requests are redirected to https with ConfigMap http-redirect-code (308; docs say 301 in places) if the request host has a certificate mapping (i.e.",
    }),
    "force-ssl-redirect": row({
      kind: bool,
      default: false,
      configMapKey: "force-ssl-redirect",
      risk: "medium",
      onInvalid: "default",
      doc: "Redirect plain http even without certificate mapping (TLS ended before the controller).",
    }),
    "preserve-trailing-slash": row({
      kind: bool,
      default: false,
      configMapKey: "preserve-trailing-slash",
      risk: "medium",
      onInvalid: "default",
      doc: "Keep the final slash of the URI in the ssl redirect; otherwise one trailing slash of the raw request URI (also when it ends the query) is cut.",
    }),
    "use-port-in-redirects": row({
      kind: bool,
      default: false,
      configMapKey: "use-port-in-redirects",
      risk: "low",
      onInvalid: "default",
      doc: "port_in_redirect on, and the ssl-redirect Location carries :<https port>.",
    }),
  },
  build(v, place) {
    if (place.settings["no-tls-redirect-locations"].some((entry) => entry !== "" && place.path.startsWith(entry))) return undefined;
    if (!v["force-ssl-redirect"] && !(v["ssl-redirect"] && place.hasCertificate)) return undefined;
    return {
      sslRedirect: {
        code: place.settings["http-redirect-code"],
        ...(v["force-ssl-redirect"] ? { force: true } : {}),
        ...(v["preserve-trailing-slash"] ? { preserveTrailingSlash: true } : {}),
        ...(v["use-port-in-redirects"] ? { port: place.httpsPort } : {}),
      },
    };
  },
});
