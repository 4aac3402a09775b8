/** enable-access-log "false": the request leaves no line, whatever becomes of it. */
import { flag, object } from "../configuration/check";
import type { AccessLogDocument } from "../wire";
import type { Feature } from "./feature";

function early(): LuaMultiReturn<[number?, string?]> {
  ngx.var.set("sluice_nolog", "1");
  return $multi();
}

export const accessLog: Feature<AccessLogDocument, AccessLogDocument> = {
  check: object({ off: flag }),
  prepare: (document) => document,
  early,
};
