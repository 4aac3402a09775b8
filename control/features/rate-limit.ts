/** Annotations: rate-limit. */

import { feature, row } from "../catalog/feature.ts";
import { cidr, int, listOf } from "../catalog/kinds.ts";

export const rateLimit = feature({
  name: "rate-limit",
  rows: {
    "limit-rps": row({
      kind: int(0),
      default: 0,
      risk: "low",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      doc: "As limit-rpm with r/s.",
    }),
    "limit-rpm": row({
      kind: int(0),
      default: 0,
      risk: "low",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      doc: "Leaky bucket: rate=<n>r/m, burst=n*limit-burst-multiplier, nodelay; excess answered with ConfigMap limit-req-status-code (503).",
    }),
    "limit-connections": row({
      kind: int(0),
      default: 0,
      risk: "low",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      doc: "Concurrent requests/connections per key; excess answered with ConfigMap limit-conn-status-code (503).",
    }),
    "limit-burst-multiplier": row({
      kind: int(1),
      default: 5,
      risk: "low",
      onInvalid: "default",
      support: "none",
      note: "Not built yet.",
      doc: "Burst = limit * multiplier for rps and rpm.",
    }),
    "limit-allowlist": row({
      kind: listOf(cidr),
      default: [] as readonly string[],
      risk: "low",
      onInvalid: "reject",
      support: "none",
      note: "Not built yet.",
      aliases: ["limit-whitelist"],
      doc: "Client addresses excluded from limit-rpm/rps/connections (not from limit-rate).",
    }),
    "limit-rate": row({
      kind: int(0),
      default: 0,
      configMapKey: "limit-rate",
      risk: "low",
      onInvalid: "default",
      support: "none",
      note: "Not built yet.",
      doc: "Response bandwidth per request; rendered with suffix k although ConfigMap docs speak of bytes.",
    }),
    "limit-rate-after": row({
      kind: int(0),
      default: 0,
      configMapKey: "limit-rate-after",
      risk: "low",
      onInvalid: "default",
      support: "none",
      note: "Not built yet.",
      doc: "Amount sent before limit-rate applies; rendered with suffix k.",
    }),
  },
});
