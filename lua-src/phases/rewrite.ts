/** rewrite_by_lua of profile locations: the request gets its real URI back. */
import type { RequestState } from "../features/feature";
import { endRequest } from "./answers";

function run(): void {
  const request = ngx.ctx as Partial<RequestState>;
  if (request.route === undefined) {
    // an internal redirect of somebody else's making
    ngx.exit(404);
  }
  ngx.req.set_uri(request.uri!, false, true);
  if (request.exit !== undefined) {
    endRequest(request.exit, request.exitTo);
  }
  // empty: nginx escapes the URI itself
  ngx.var.set("sluice_uri", request.raw === true ? ngx.var.get("request_uri")! : "");
}

export { run };
