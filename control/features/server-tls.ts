/** Annotations: server-tls. What they do to handshakes is build/host-tls.ts. */

import { feature, row } from "../catalog/feature.ts";
import { bool } from "../catalog/kinds.ts";
import { cipherList } from "./setting-kinds.ts";

export const serverTls = feature({
  name: "server-tls",
  rows: {
    "ssl-ciphers": row({
      kind: cipherList,
      default: undefined,
      scope: "host",
      risk: "low",
      onInvalid: "reject",
      doc: "OpenSSL cipher list for handshakes of the host up to TLS 1.2; the oldest Ingress of the host that has one decides. A list without any usable cipher refuses the handshake.",
    }),
    "ssl-prefer-server-ciphers": row({
      kind: bool,
      default: undefined,
      scope: "host",
      risk: "low",
      onInvalid: "default",
      doc: "Whether the server's order of ciphers counts rather than the client's; the oldest Ingress of the host that has it decides.",
    }),
    "ssl-passthrough": row({
      kind: bool,
      default: false,
      scope: "host",
      risk: "low",
      onInvalid: "reject",
      doc: "Needs --enable-ssl-passthrough: TLS for this very host name goes unopened to the cluster address of the Service behind its path /. Plain http is served as usual. Where nginx has no njs for streams each change reloads.",
    }),
    "http2-push-preload": row({
      kind: bool,
      default: false,
      risk: "low",
      onInvalid: "reject",
      support: "none",
      note: "HTTP/2 push is gone from nginx and from browsers; it has no effect.",
      doc: "Renders http2_push_preload on; obsolete no-op in the bundled nginx (>=1.25.1).",
    }),
  },
});
