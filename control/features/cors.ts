/** Annotations: cors. */

import { feature, row } from "../catalog/feature.ts";
import { bool, int, text } from "../catalog/kinds.ts";

export const cors = feature({
  name: "cors",
  rows: {
    "enable-cors": row({
      kind: bool,
      default: false,
      risk: "low",
      onInvalid: "default",
      support: "none",
      note: "Not built yet.",
      doc: "Turns CORS handling on for the location.",
    }),
    "cors-allow-origin": row({
      kind: text,
      default: "*",
      risk: "medium",
      onInvalid: "default",
      support: "none",
      note: "Not built yet.",
      doc: "If any item is * then every origin allowed and Access-Control-Allow-Origin is literally *. Otherwise Origin is compared case-insensitively against the alternatives, anchored only at the END (suffix match), * meaning one label of letters digits -; on match the request's Origin is echoed.",
    }),
    "cors-allow-methods": row({
      kind: text,
      default: "GET, PUT, POST, DELETE, PATCH, OPTIONS",
      risk: "medium",
      onInvalid: "default",
      support: "none",
      note: "Not built yet.",
      doc: "Access-Control-Allow-Methods text.",
    }),
    "cors-allow-headers": row({
      kind: text,
      default: "DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization",
      risk: "medium",
      onInvalid: "default",
      support: "none",
      note: "Not built yet.",
      doc: "Access-Control-Allow-Headers text.",
    }),
    "cors-allow-credentials": row({
      kind: bool,
      default: true,
      risk: "low",
      onInvalid: "default",
      support: "none",
      note: "Not built yet.",
      doc: "true adds Access-Control-Allow-Credentials: true; false omits it (also true together with origin *).",
    }),
    "cors-expose-headers": row({
      kind: text,
      default: undefined,
      risk: "medium",
      onInvalid: "default",
      support: "none",
      note: "Not built yet.",
      doc: "Access-Control-Expose-Headers; omitted when empty.",
    }),
    "cors-max-age": row({
      kind: int(-(2 ** 31)),
      default: 1728000,
      risk: "low",
      onInvalid: "default",
      support: "none",
      note: "Not built yet.",
      doc: "Access-Control-Max-Age.",
    }),
  },
});
