/** sluice/max-in-flight: a backend that has as many requests in progress as it may is spared further ones. */
import { logError } from "../base/log";
import { flag, object } from "../configuration/check";
import type { InFlightDocument } from "../wire";
import { enter } from "./connection-count";
import type { Feature, RequestState } from "./feature";

function late(_config: InFlightDocument, request: RequestState): LuaMultiReturn<[number?, string?]> {
  const backend = request.backend!;
  const most = backend.maxInFlight;
  if (most !== undefined && !enter(`b:${backend.name}`, most, false)) {
    logError("too many requests in progress at", backend.name);
    return $multi(503);
  }
  return $multi();
}

/** Only here so that the route's location has the hook that ends what requests hold. */
function log(): LuaMultiReturn<[number?, string?]> {
  return $multi();
}

export const inFlight: Feature<InFlightDocument, InFlightDocument> = {
  check: object({ limited: flag }),
  prepare: (document) => document,
  late,
  log,
};
