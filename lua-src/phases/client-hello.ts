/** ssl_client_hello_by_lua: before a session is looked for and before the certificate is chosen. */
import { get_client_hello_server_name } from "ngx.ssl.clienthello";
import { logError } from "../base/log";
import { sync } from "../configuration/sync";
import { findHost } from "../router/host";
import { normalName } from "../tls/certificate";
import { prepareHandshake } from "../tls/host-tls";

function run(): void {
  sync();
  const [name] = get_client_hello_server_name();
  const tls = findHost(name === undefined ? "" : normalName(name)).more?.tls;
  const problem = tls === undefined ? undefined : prepareHandshake(tls);
  if (problem !== undefined) {
    logError("handshake refused", `${name}: ${problem}`);
    ngx.exit(ngx.ERROR);
  }
}

export { run };
