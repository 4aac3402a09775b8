/** Routes whose backend learns from the end of each request: response times, requests in progress (base/holds.ts). */
import { flag, object } from "../configuration/check";
import type { MeasureDocument } from "../wire";
import type { Feature } from "./feature";

/** Only here so that the route's location has the hook that ends what requests hold. */
function log(): LuaMultiReturn<[number?, string?]> {
  return $multi();
}

export const measure: Feature<MeasureDocument, MeasureDocument> = {
  check: object({ end: flag }),
  prepare: (document) => document,
  log,
};
