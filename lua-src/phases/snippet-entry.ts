/**
 * rewrite_by_lua of the location that nginx finds for a profile with snippets: leads on to the named one that holds them, with
 * the real URI, so that they can test and rewrite it before our own hook runs.
 */
import type { RequestState } from "../features/feature";

function run(name: string): void {
  const request = ngx.ctx as Partial<RequestState>;
  if (request.route === undefined) {
    ngx.exit(404);
  }
  ngx.req.set_uri(request.uri!, false, true);
  ngx.exec(name);
}

export { run };
