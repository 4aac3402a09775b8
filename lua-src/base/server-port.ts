import { settings } from "../configuration/settings";

/** The port to which the client came: behind ssl_preread nginx itself knows another one. */
function serverPort(): string {
  const port = ngx.var.get("server_port")!;
  const passthrough = settings.passthrough;
  return passthrough !== undefined && port === passthrough.innerPort ? passthrough.httpsPort : port;
}

export { serverPort };
