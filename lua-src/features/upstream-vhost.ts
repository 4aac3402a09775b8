/** upstream-vhost: the Host header for the upstream. */
import { expandTemplate, parseTemplate, type Template } from "../base/template";
import { object, text } from "../configuration/check";
import type { UpstreamVhostDocument } from "../wire";
import type { Feature, RequestState } from "./feature";
import { fillRouteVariables, namesRouteVariables } from "./route-variables";

interface UpstreamVhost {
  readonly host: Template;
  readonly namesRoute: boolean;
}

function early(config: UpstreamVhost, request: RequestState): LuaMultiReturn<[number?, string?]> {
  if (config.namesRoute) {
    fillRouteVariables(request.route);
  }
  ngx.var.set("upstream_vhost", expandTemplate(config.host));
  return $multi();
}

function prepare(document: UpstreamVhostDocument): UpstreamVhost {
  const host = parseTemplate(document.host);
  return { host, namesRoute: namesRouteVariables(host) };
}

export const upstreamVhost: Feature<UpstreamVhostDocument, UpstreamVhost> = {
  check: object({ host: text }),
  prepare: (document) => prepare(document),
  early,
};
