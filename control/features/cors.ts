/** Annotations: cors. */

import { feature, row } from "../catalog/feature.ts";
import { bool, int, type Kind, pattern } from "../catalog/kinds.ts";

/** Origins of a list; what is no origin is skipped, so that one slip opens nothing and closes nothing else. */
interface Origins {
  /** Lower case. */
  readonly valid: readonly string[];
  readonly skipped: readonly string[];
}

const origin = /^(\*|null|[a-z]+:\/\/(\*\.)?[A-Za-z0-9.-]+(:\d+)?)$/;

const originList: Kind<Origins> = {
  label: "list of origins: *, null, scheme://host[:port], scheme://*.host[:port]",
  parse(text) {
    const items = text.split(",").map((item) => item.trim());
    const named = items.filter((item) => item !== "");
    return {
      ok: true,
      value: {
        valid: [...new Set(named.filter((item) => origin.test(item)).map((item) => item.toLowerCase()))],
        skipped: named.filter((item) => !origin.test(item)),
      },
    };
  },
  examples: ["https://app.example.test, https://*.example.test:8443"],
  print: ({ valid }) => valid.join(", "),
  schema: { type: "string" },
};

const methodList = pattern("list of methods", /^([A-Za-z]+,?\s?)+$/, "GET, POST", "GET;POST");
const headerList = pattern("list of header names", /^[A-Za-z0-9_\-, ]+$/, "X-One, X-Two", "X-One;");
const exposeList = pattern("list of header names, or *", /^([A-Za-z0-9_\-*]+[,\s]*)+$/, "X-One, X-Two", "X-One;");

export const cors = feature({
  name: "cors",
  rows: {
    "enable-cors": row({
      kind: bool,
      default: false,
      risk: "low",
      onInvalid: "default",
      doc: "Preflights of allowed origins are answered 204, before redirects and access checks; every other answer, errors included, gets the CORS headers in place of the backend's.",
    }),
    "cors-allow-origin": row({
      kind: originList,
      default: { valid: ["*"], skipped: [] } as Origins,
      risk: "medium",
      onInvalid: "default",
      doc: "Origins that may read answers, compared whole and in any case; * in front of a host stands for one label. * alone allows everybody. Entries that are no origin are skipped; a list without any origin allows nobody.",
    }),
    "cors-allow-methods": row({
      kind: methodList,
      default: "GET, PUT, POST, DELETE, PATCH, OPTIONS",
      risk: "medium",
      onInvalid: "default",
      doc: "Access-Control-Allow-Methods.",
    }),
    "cors-allow-headers": row({
      kind: headerList,
      default: "DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization",
      risk: "medium",
      onInvalid: "default",
      doc: "Access-Control-Allow-Headers.",
    }),
    "cors-allow-credentials": row({
      kind: bool,
      default: true,
      risk: "low",
      onInvalid: "default",
      doc: "Send Access-Control-Allow-Credentials: true.",
    }),
    "cors-expose-headers": row({
      kind: exposeList,
      default: undefined,
      risk: "medium",
      onInvalid: "default",
      doc: "Access-Control-Expose-Headers; not sent when absent.",
    }),
    "cors-max-age": row({
      kind: int(-(2 ** 31)),
      default: 1728000,
      risk: "low",
      onInvalid: "default",
      doc: "Access-Control-Max-Age, in seconds.",
    }),
  },
  notices(v) {
    const { valid, skipped } = v["cors-allow-origin"];
    if (!v["enable-cors"] || skipped.length === 0) return [];
    const what = `${skipped
      .slice(0, 5)
      .map((item) => JSON.stringify(item.slice(0, 80)))
      .join(", ")}: no origin`;
    return [{ annotation: "cors-allow-origin", reason: valid.length === 0 ? `${what}; nobody is allowed` : `${what}; skipped` }];
  },
  build(v) {
    const origins = v["cors-allow-origin"].valid;
    // without an origin nothing is ever added or answered
    if (!v["enable-cors"] || origins.length === 0) return undefined;
    const expose = v["cors-expose-headers"];
    return {
      cors: {
        origins: origins.includes("*") ? ["*"] : origins,
        methods: v["cors-allow-methods"],
        headers: v["cors-allow-headers"],
        credentials: v["cors-allow-credentials"],
        ...(expose === undefined ? {} : { expose }),
        maxAge: v["cors-max-age"],
      },
    };
  },
});
