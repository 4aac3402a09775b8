/** ssl_certificate_by_lua. */
import { server_name } from "ngx.ssl";
import { logError } from "../base/log";
import { currentGeneral } from "../configuration/general";
import { sync } from "../configuration/sync";
import { findHost, resolveHost } from "../router/host";
import { normalName, present } from "../tls/certificate";
import { completeHandshake } from "../tls/host-tls";
import { isResumed } from "../tls/openssl";

/** ssl-reject-handshake: only names that are served get an answer. */
function isForeign(name: string | undefined): boolean {
  if (name === undefined) {
    return true;
  }
  const how = resolveHost(normalName(name)).how;
  return how === "catch-all" || how === "none";
}

function run(): void {
  sync();
  const [name] = server_name();
  if (currentGeneral().rejectHandshake === true && isForeign(name)) {
    ngx.exit(ngx.ERROR);
  }
  if (isResumed()) {
    return;
  }
  const tls = findHost(name === undefined ? "" : normalName(name)).more?.tls;
  const problem = present(name) ?? (tls === undefined ? undefined : completeHandshake(tls));
  if (problem !== undefined) {
    logError("certificate refused", `${name}: ${problem}`);
    ngx.exit(ngx.ERROR);
  }
}

export { run };
