/** connection-proxy-header: overrides what $connection_upgrade, a cached map, would say. */
import { object, text } from "../configuration/check";
import type { ConnectionHeaderDocument } from "../wire";
import type { Feature } from "./feature";

function early(config: ConnectionHeaderDocument): LuaMultiReturn<[number?, string?]> {
  ngx.var.set("connection_upgrade", config.value);
  return $multi();
}

export const connectionHeader: Feature<ConnectionHeaderDocument, ConnectionHeaderDocument> = {
  check: object({ value: text }),
  prepare: (document) => document,
  early,
};
