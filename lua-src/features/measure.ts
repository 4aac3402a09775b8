/** Routes whose backend learns from the end of each request: response times, requests in progress. */
import { flag, object } from "../configuration/check";
import type { MeasureDocument } from "../wire";
import type { Feature, RequestState } from "./feature";

function log(_config: MeasureDocument, request: RequestState): LuaMultiReturn<[number?, string?]> {
  request.backend?.balancer.done?.(request);
  return $multi();
}

export const measure: Feature<MeasureDocument, MeasureDocument> = {
  check: object({ end: flag }),
  prepare: (document) => document,
  log,
};
