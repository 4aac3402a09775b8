/** What becomes of a request whose client's certificate is not good. */
import { settings } from "../configuration/settings";
import { type ClientAuth, judgeClient } from "../tls/client-auth";
import { endRequest } from "./answers";

const slash = string.byte("/");
const at = string.byte("@");

/** As nginx does for error_page: GET, without the query, and by the host's own routes. */
function becomeErrorPage(page: string): string {
  ngx.req.set_method(ngx.HTTP_GET);
  ngx.req.set_uri(page, false);
  ngx.req.set_uri_args("");
  return page;
}

/** A server-snippet's location answers instead, where the server block has it. */
function leadToNamed(name: string, place: number | undefined): void {
  if (place !== undefined && settings.servers.get(place)?.named?.get(name) === true) {
    ngx.exec(name);
  }
}

function refuse({ errorPage }: ClientAuth, code: number, place: number | undefined): string | undefined {
  if (errorPage !== undefined && string.byte(errorPage, 1) === at) {
    leadToNamed(errorPage, place);
    ngx.exit(code);
  }
  if (errorPage === undefined) {
    ngx.exit(code);
    return undefined;
  }
  if (string.byte(errorPage, 1) === slash) {
    return becomeErrorPage(errorPage);
  }
  endRequest(302, errorPage);
  return undefined;
}

/** Ends the request, or lets it go on: to the path that it gives, where it gives one. `place`: of the server block, if that has text. */
function admitClient(auth: ClientAuth, place: number | undefined): string | undefined {
  const verdict = judgeClient(auth);
  if (verdict === "ok") {
    return undefined;
  }
  if (verdict === "misdirected") {
    ngx.exit(421);
  } else if (verdict === "wrong-name") {
    ngx.exit(403);
  }
  return refuse(auth, verdict === "missing" ? 496 : 495, place);
}

export { admitClient };
