/** rewrite_by_lua of "@error": hands an error to the backend that answers errors. */
import { backendNamed } from "../balancer/peers";
import { hasPeers, recallState, setHeader, tellError } from "../features/custom-errors";
import type { RequestState } from "../features/feature";
import type { Route } from "../router/route";
import { names } from "../wire";

/** For errors of requests that never had a route. */
const noSource = ["", "", "", "", ""] as unknown as LuaTable<number, string>;
const nowhere: Route = { backend: undefined, more: undefined, source: noSource, index: 0 };

function run(): void {
  const code = ngx.status;
  const request = recallState() ?? { route: nowhere, backend: undefined, tries: 0 };
  // an error without a backend for it is counted, too
  ngx.ctx = request satisfies RequestState;
  const own = request.fallback;
  const backend = own !== undefined && hasPeers(own) ? own : backendNamed(names.defaultBackend);
  if (!hasPeers(backend)) {
    ngx.exit(404);
  }
  request.backend = backend;
  request.tries = 0;
  request.tried = undefined;
  // the first backend's, to the end
  request.held = undefined;
  ngx.var.set("upstream_vhost", "");
  tellError(request, tostring(code));
  if (code === 413) {
    // nginx throws the body away, but goes on saying how long it is
    ngx.req.clear_header("Content-Length");
  }
  setHeader("X-Original-URI", ngx.var.get("request_uri"));
  ngx.req.set_uri("/", false, true);
  // forgets the error's status: the answer's own counts
  ngx.status = 200;
}

export { run };
