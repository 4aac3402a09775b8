/**
 * rewrite_by_lua of "@first": a server-snippet has tested and perhaps rewritten the request; now it is routed. To
 * phases/server-rewrite.ts it comes back as an internal redirect, with a mark.
 */
import { escapedUri } from "./rewrite";

/** $sluice_first: the URI on the way here; "raw" or "changed" on the way back. */
function run(): void {
  const uri = ngx.var.get("uri")!;
  ngx.var.set("sluice_first", ngx.var.get("sluice_first") === uri ? "raw" : "changed");
  ngx.exec(escapedUri(uri), ngx.var.get("args"));
}

export { run };
