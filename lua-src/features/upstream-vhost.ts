/** upstream-vhost: the Host header for the upstream. */
import { expandTemplate, parseTemplate, type Template } from "../base/template";
import { object, text } from "../configuration/check";
import type { UpstreamVhostDocument } from "../wire";
import type { Feature } from "./feature";

function early(config: Template): LuaMultiReturn<[number?, string?]> {
  ngx.var.set("upstream_vhost", expandTemplate(config));
  return $multi();
}

export const upstreamVhost: Feature<UpstreamVhostDocument, Template> = {
  check: object({ host: text }),
  prepare: (document) => parseTemplate(document.host),
  early,
};
