/** permanent-redirect and temporal-redirect: the location has no other answer. */
import { expandTemplate, parseTemplate, type Template } from "../base/template";
import { integer, object, text } from "../configuration/check";
import type { RedirectDocument } from "../wire";
import type { Feature, RequestState } from "./feature";
import { fillRouteVariables, namesRouteVariables } from "./route-variables";

interface Redirect {
  readonly code: number;
  readonly to: Template;
  readonly namesRoute: boolean;
}

function early(config: Redirect, request: RequestState): LuaMultiReturn<[number?, string?]> {
  if (config.namesRoute) {
    fillRouteVariables(request.route);
  }
  return $multi(config.code, expandTemplate(config.to));
}

function prepare(document: RedirectDocument): Redirect {
  const to = parseTemplate(document.to);
  return { code: document.code, to, namesRoute: namesRouteVariables(to) };
}

export const redirect: Feature<RedirectDocument, Redirect> = {
  check: object({ code: integer(300, 308), to: text }),
  prepare: (document) => prepare(document),
  early,
};
