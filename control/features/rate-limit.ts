/** Annotations: rate-limit. */

import type { RateLimitDocument } from "../../lua-src/wire.ts";
import { feature, row } from "../catalog/feature.ts";
import { cidr, int, listOf } from "../catalog/kinds.ts";

/** What is 0 or below does not limit. */
const limit = int(-(2 ** 31));
const kilobyte = 1024;

type Requests = NonNullable<RateLimitDocument["requests"]>;

/** Thousandths of requests, as nginx counts; its rates per minute lose what is less than one of them per second. */
function requestLimits(perSecond: number, perMinute: number, multiplier: number): Requests {
  const limits: { name: "rps" | "rpm"; rate: number; burst: number }[] = [];
  if (perSecond > 0) limits.push({ name: "rps", rate: perSecond * 1000, burst: perSecond * multiplier * 1000 });
  if (perMinute > 0) limits.push({ name: "rpm", rate: Math.floor((perMinute * 1000) / 60), burst: perMinute * multiplier * 1000 });
  return limits;
}

export const rateLimit = feature({
  name: "rate-limit",
  rows: {
    "limit-rps": row({
      kind: limit,
      default: 0,
      risk: "low",
      onInvalid: "reject",
      doc: "Requests per second of one client to the Ingress; 1 + burst may come at once, what is more is answered with limit-req-status-code. Counted in each pod by limit-conn-zone-variable. 0 is no limit.",
    }),
    "limit-rpm": row({
      kind: limit,
      default: 0,
      risk: "low",
      onInvalid: "reject",
      doc: "Requests per minute, as limit-rps. Both may be set.",
    }),
    "limit-connections": row({
      kind: limit,
      default: 0,
      risk: "low",
      onInvalid: "reject",
      doc: "Requests of one client in progress at a time; what is more is answered with limit-conn-status-code. 0 is no limit.",
    }),
    "limit-burst-multiplier": row({
      kind: int(1, 1000000),
      default: 5,
      risk: "low",
      onInvalid: "default",
      doc: "The burst of limit-rps and limit-rpm is the limit times this.",
    }),
    "limit-allowlist": row({
      kind: listOf(cidr),
      default: [] as readonly string[],
      risk: "low",
      onInvalid: "reject",
      aliases: ["limit-whitelist"],
      doc: "Client addresses that limit-rps, limit-rpm and limit-connections do not count.",
    }),
    "limit-rate": row({
      kind: limit,
      default: 0,
      configMapKey: "limit-rate",
      risk: "low",
      onInvalid: "default",
      doc: "Kilobytes per second of each answer. 0 is no limit.",
    }),
    "limit-rate-after": row({
      kind: limit,
      default: undefined,
      configMapKey: "limit-rate-after",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "Kilobytes of an answer that are sent before limit-rate holds.",
    }),
  },
  build(v, { ingress, settings }) {
    const rate = Math.max(0, v["limit-rate"]);
    const limitRate = rate === settings["limit-rate"] ? {} : { limitRate: { bytes: rate * kilobyte } };
    const requests = requestLimits(v["limit-rps"], v["limit-rpm"], v["limit-burst-multiplier"]);
    const connections = v["limit-connections"];
    if (requests.length === 0 && connections <= 0) return limitRate;
    const allow = v["limit-allowlist"];
    const rateLimit: RateLimitDocument = {
      zone: ingress.metadata.uid,
      key: settings["limit-conn-zone-variable"],
      ...(allow.length === 0 ? {} : { allow }),
      ...(requests.length === 0 ? {} : { requests }),
      ...(connections <= 0 ? {} : { connections }),
      requestStatus: settings["limit-req-status-code"],
      connectionStatus: settings["limit-conn-status-code"],
    };
    return { ...limitRate, rateLimit };
  },
  fixed(v, { settings }) {
    const after = v["limit-rate-after"];
    if (after === undefined || Math.max(0, after) === settings["limit-rate-after"]) return [];
    return [{ name: "limit_rate_after", args: [`${Math.max(0, after)}k`] }];
  },
});
