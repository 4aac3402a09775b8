/** ssl_certificate_by_lua. */
import { server_name } from "ngx.ssl";
import { logError } from "../base/log";
import { sync } from "../configuration/sync";
import { present } from "../tls/certificate";

function run(): void {
  sync();
  const [name] = server_name();
  const problem = present(name);
  if (problem !== undefined) {
    logError("certificate refused", `${name}: ${problem}`);
    ngx.exit(ngx.ERROR);
  }
}

export { run };
