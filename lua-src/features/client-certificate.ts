/** auth-tls at the routes: the certificate itself for the upstream; no plain http where a certificate is needed. */
import { flag, object } from "../configuration/check";
import type { ClientCertificateDocument } from "../wire";
import type { Feature } from "./feature";

function late(config: ClientCertificateDocument): LuaMultiReturn<[number?, string?]> {
  if (config.required === true && ngx.var.get("https") !== "on") {
    return $multi(403);
  }
  // NONE also stands for a certificate that was shown to another host
  if (config.pass === true && ngx.var.get("sluice_client_verify") !== "NONE") {
    ngx.var.set("sluice_client_cert", ngx.var.get("ssl_client_escaped_cert") ?? "");
  }
  return $multi();
}

export const clientCertificate: Feature<ClientCertificateDocument, ClientCertificateDocument> = {
  check: object({ "pass?": flag, "required?": flag }),
  prepare: (document) => document,
  late,
};
