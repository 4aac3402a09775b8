/** rewrite_by_lua of profile locations: the request gets its real URI back. */
import { recallState } from "../features/custom-errors";
import type { RequestState } from "../features/feature";
import type { RouteMore } from "../router/route";
import { endRequest } from "./answers";
import { serve } from "./server-rewrite";

/** Before a URI whose location is to be looked for anew (control/apply/snippet-lines.ts). */
const searchMark = "/~search";

/** In a decoded URI these two stand for themselves. */
const escapes = new LuaTable<string, string>();
escapes.set("%", "%25");
escapes.set("?", "%3F");

function escapedUri(uri: string): string {
  const [escaped] = string.gsub(uri, "[%%?]", escapes as unknown as Record<string, string>);
  return escaped;
}

/** As nginx does after `rewrite … last`: a new request in all but the client's eyes. */
function search(uri: string): void {
  ngx.exec(escapedUri(uri), ngx.var.get("args"));
}

/** The location's snippets have run; they may have changed the URI. */
function serveAfterSnippets(request: RequestState, more: RouteMore | undefined): void {
  const uri = ngx.var.get("uri")!;
  if (string.sub(uri, 1, searchMark.length) === searchMark) {
    search(string.sub(uri, searchMark.length + 1));
  }
  if (uri !== request.uri) {
    request.uri = uri;
    request.raw = false;
  }
  if (request.later === true) {
    request.later = undefined;
    serve(request, more!);
    request.raw = request.raw === true && request.rewritten !== true;
  }
}

/** A location with snippets is reached by a way that empties ngx.ctx. */
function requestAfterSnippets(): RequestState {
  const request = recallState();
  if (request === undefined) {
    // an internal redirect of somebody else's making
    ngx.exit(404);
  }
  ngx.ctx = request!;
  serveAfterSnippets(request!, request!.route.more);
  return request!;
}

function run(): void {
  const known = ngx.ctx as Partial<RequestState>;
  const request = known.route === undefined ? requestAfterSnippets() : (known as RequestState);
  ngx.req.set_uri(request.uri!, false, true);
  if (request.exit !== undefined) {
    endRequest(request.exit, request.exitTo);
  }
  // empty: nginx escapes the URI itself
  ngx.var.set("sluice_uri", request.raw === true ? ngx.var.get("request_uri")! : "");
}

export { escapedUri, run };
