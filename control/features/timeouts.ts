/** Annotations: timeouts. */

import type { TimeoutsDocument } from "../../lua-src/wire.ts";
import { feature, row } from "../catalog/feature.ts";
import { int } from "../catalog/kinds.ts";

export const timeouts = feature({
  name: "timeouts",
  rows: {
    "proxy-connect-timeout": row({
      kind: int(1),
      default: 5,
      configMapKey: "proxy-connect-timeout",
      risk: "low",
      onInvalid: "default",
      doc: "Connect timeout to the upstream; also grpc_connect_timeout when backend-protocol is exactly GRPC/GRPCS.",
    }),
    "proxy-read-timeout": row({
      kind: int(1),
      default: 60,
      configMapKey: "proxy-read-timeout",
      risk: "low",
      onInvalid: "default",
      doc: "Time between two reads from the upstream; grpc_read_timeout likewise.",
    }),
    "proxy-send-timeout": row({
      kind: int(1),
      default: 60,
      configMapKey: "proxy-send-timeout",
      risk: "low",
      onInvalid: "default",
      doc: "Time between two writes to the upstream; grpc_send_timeout likewise.",
    }),
  },
  build(v, place) {
    const own: { -readonly [K in keyof TimeoutsDocument]: TimeoutsDocument[K] } = {};
    if (v["proxy-connect-timeout"] !== place.settings["proxy-connect-timeout"]) own.connect = v["proxy-connect-timeout"] * 1000;
    if (v["proxy-send-timeout"] !== place.settings["proxy-send-timeout"]) own.send = v["proxy-send-timeout"] * 1000;
    if (v["proxy-read-timeout"] !== place.settings["proxy-read-timeout"]) own.read = v["proxy-read-timeout"] * 1000;
    return Object.keys(own).length === 0 ? undefined : { timeouts: own };
  },
});
