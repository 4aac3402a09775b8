/** limit-rate: bytes per second of an answer. How many come before it is nginx' limit_rate_after, in the profile. */
import { integer, object } from "../configuration/check";
import type { LimitRateDocument } from "../wire";
import type { Feature } from "./feature";

function late(bytes: string): LuaMultiReturn<[number?, string?]> {
  ngx.var.set("limit_rate", bytes);
  return $multi();
}

export const limitRate: Feature<LimitRateDocument, string> = {
  check: object({ bytes: integer(0, 9007199254740991) }),
  prepare: ({ bytes }) => string.format("%.0f", bytes),
  late,
};
