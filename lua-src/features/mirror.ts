/** mirror-target: where the copy of this request goes; nginx makes the copy (mirror /~mirror). */
import { expandTemplate, parseTemplate, type Template } from "../base/template";
import { object, text } from "../configuration/check";
import type { MirrorDocument } from "../wire";
import type { Feature } from "./feature";

interface Mirror {
  readonly target: Template;
  readonly host: Template;
}

/** A variable may have put a socket of this machine there: proxy_pass would take "unix:". */
function isLocalSocket(url: string): boolean {
  const [from] = string.find(string.lower(url), "^https?://unix:");
  return from !== undefined;
}

function late(config: Mirror): LuaMultiReturn<[number?, string?]> {
  const url = expandTemplate(config.target);
  if (!isLocalSocket(url)) {
    ngx.var.set("sluice_mirror", url);
    ngx.var.set("sluice_mirror_host", expandTemplate(config.host));
  }
  return $multi();
}

export const mirror: Feature<MirrorDocument, Mirror> = {
  check: object({ target: text, host: text }),
  prepare: (document) => ({ target: parseTemplate(document.target), host: parseTemplate(document.host) }),
  late,
};
