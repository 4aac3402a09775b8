/** Text with nginx variables ("$name", "${name}"), taken apart once and put together per request. */
import type { RequestState } from "../features/feature";
import { givenHost } from "./given-host";
import { subdomainOf } from "./subdomain";

/** Plain text at odd places, variable names at even ones. */
export interface Template {
  readonly parts: LuaTable<number, string>;
  readonly count: number;
}

function parseTemplate(text: string): Template {
  const parts = new LuaTable<number, string>();
  let count = 0;
  let at = 1;
  while (true) {
    const [from, to, braced, bare] = string.find(text, "%$({?)([%w_]+)}?", at);
    if (from === undefined || to === undefined) {
      break;
    }
    // "${name" without its end is plain text to nginx' users; keep it so
    const end = braced === "" ? from + (bare as string).length : to;
    parts.set(count + 1, string.sub(text, at, from - 1));
    parts.set(count + 2, string.lower(bare as string));
    count += 2;
    at = end + 1;
  }
  parts.set(count + 1, string.sub(text, at));
  return { parts, count: count + 1 };
}

/** Of variables that nginx leaves empty where there is something to say. */
function missingValue(name: string): string {
  if (name === "http_host") {
    return givenHost();
  }
  return name === "subdomain" ? subdomainOf((ngx.ctx as Partial<RequestState>).route?.source.get(6)) : "";
}

/** $escaped_request_uri is no variable of nginx; annotations may name it all the same. */
function variableValue(name: string): string {
  if (name === "escaped_request_uri") {
    return ngx.escape_uri(ngx.var.get("request_uri")!);
  }
  const value = ngx.var.get(name);
  return value === undefined || value === "" ? missingValue(name) : value;
}

function partOf(name: string, groups: LuaTable<number, string | false> | undefined): string {
  const number = groups === undefined ? undefined : tonumber(name);
  if (number === undefined) {
    return variableValue(name);
  }
  const group: string | false | undefined = groups!.get(number);
  return group === undefined || group === false ? "" : group;
}

/** Unknown variables are empty. With groups of an expression "$1" is the first of them. */
function expandTemplate(template: Template, groups?: LuaTable<number, string | false>): string {
  let out = template.parts.get(1)!;
  for (const i of $range(2, template.count, 2)) {
    out += partOf(template.parts.get(i)!, groups) + template.parts.get(i + 1)!;
  }
  return out;
}

export { expandTemplate, parseTemplate };
