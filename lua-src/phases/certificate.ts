/** ssl_certificate_by_lua. */
import { server_name } from "ngx.ssl";
import { logError } from "../base/log";
import { sync } from "../configuration/sync";
import { findHost } from "../router/host";
import { normalName, present } from "../tls/certificate";
import { askForCertificate } from "../tls/host-tls";

function run(): void {
  sync();
  const [name] = server_name();
  const tls = findHost(name === undefined ? "" : normalName(name)).more?.tls;
  const problem = present(name) ?? (tls === undefined ? undefined : askForCertificate(tls));
  if (problem !== undefined) {
    logError("certificate refused", `${name}: ${problem}`);
    ngx.exit(ngx.ERROR);
  }
}

export { run };
