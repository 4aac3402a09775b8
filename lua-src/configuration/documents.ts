/** The checks of every document in wire.ts, and the text in which an entry is stored. */
import { encode } from "cjson.safe";
import { featureChecks } from "../features/order";
import { type Check, flag, integer, list, number, object, oneOf, record, text, textOrNumber } from "./check";

const milliseconds = integer(1, 2147483647);
const timeouts = object({ "connect?": milliseconds, "send?": milliseconds, "read?": milliseconds });
const status = integer(200, 599);

const source = object({ namespace: text, ingress: text, service: text, port: text, path: text });

const fixed: Check = (value, at) => object({ "status?": status, "slash?": text })(value, at);

const route = object({
  kind: oneOf("exact", "prefix", "regex", "iprefix"),
  path: text,
  "profile?": text,
  "backend?": text,
  "fixed?": fixed,
  source,
  features: object(featureChecks),
});

const routeWithTarget: Check = (value, at) => {
  const problem = route(value, at);
  if (problem !== undefined) {
    return problem;
  }
  const { kind, path, backend, fixed: answer } = value as { kind: string; path: string; backend?: string; fixed?: object };
  if (backend === undefined && answer === undefined) {
    return `${at}: neither backend nor fixed`;
  }
  return kind === "prefix" && string.sub(path, -1) !== "/" ? `${at}.path: a prefix ends in "/"` : undefined;
};

const clientAuth = object({
  authority: text,
  verify: oneOf("on", "off", "optional", "optional_no_ca"),
  depth: integer(0, 100),
  "errorPage?": text,
  "commonName?": text,
});

const checkHost = object({
  name: text,
  "aliasOf?": text,
  "redirectTo?": object({ host: text, code: oneOfNumbers(301, 302, 307, 308) }),
  "appRoot?": text,
  "deny?": status,
  "tls?": object({ "ciphers?": text, "preferServerCiphers?": flag, "clientAuth?": clientAuth }),
  routes: list(routeWithTarget),
});

const cookie = object({
  name: text,
  "expires?": text,
  "maxage?": text,
  "locations?": record(list(text)),
  "secure?": flag,
  "path?": text,
  "domain?": text,
  "samesite?": text,
  "conditional_samesite_none?": flag,
  "change_on_failure?": flag,
});

const shaping = object({
  weight: number,
  weightTotal: number,
  header: text,
  headerValue: text,
  headerPattern: text,
  cookie: text,
  "sticky?": object({ kind: oneOf("cookie", "header"), name: text }),
});

const checkBackend = object({
  name: text,
  port: textOrNumber,
  "endpoints?": list(object({ address: text, port: text })),
  sessionAffinityConfig: object({ name: text, mode: text, "cookieSessionAffinity?": cookie }),
  upstreamHashByConfig: object({ "upstream-hash-by?": text, "upstream-hash-by-subset?": flag, "upstream-hash-by-subset-size?": number }),
  "load-balance?": text,
  noServer: flag,
  trafficShapingPolicy: shaping,
  "alternativeBackends?": list(text),
  "maxInFlight?": integer(1, 2147483647),
  "slowStart?": integer(1, 86400),
  "builtIn404?": flag,
});

const checkGeneral = object({
  useForwardedHeaders: flag,
  useProxyProtocol: flag,
  "ocsp?": flag,
  httpRedirectCode: status,
  httpsPort: integer(1, 65535),
  healthPath: text,
  tries: integer(0, 1000000),
  "retriesRefused?": flag,
  logVariables: list(text),
  statusAllow: list(text),
  hostPatterns: list(object({ pattern: text, host: text })),
  "access?": object({
    "allow?": list(text),
    "deny?": list(text),
    "blockCidrs?": list(text),
    "blockUserAgents?": list(text),
    "blockReferers?": list(text),
  }),
  "proxies?": list(text),
  "tracing?": object({
    ratio: number,
    parentBased: flag,
    "export?": object({ socket: text, batch: integer(1, 2147483647), queue: integer(1, 2147483647), delay: integer(1, 2147483647) }),
  }),
});

const checkServers = object({ certificates: record(text), servers: record(text) });

function changes(item: Check): Check {
  return object({ "upsert?": record(item), "remove?": list(text) });
}

const checkBatch = object({
  version: integer(1, 9007199254740991),
  "hosts?": changes(checkHost),
  "backends?": changes(checkBackend),
  "certificates?": changes(text),
  "servers?": changes(text),
  "users?": changes(text),
  "networks?": changes(text),
  "general?": checkGeneral,
});

function oneOfNumbers(...allowed: readonly number[]): Check {
  return (value, at) => {
    for (const number of allowed) {
      if (value === number) {
        return undefined;
      }
    }
    return `${at}: not one of ${table.concat(allowed as number[], ", ")}`;
  };
}

/** cjson cannot tell an empty array from an empty object; the wire has no empty object under these names. */
const arrays: Record<string, true> = {
  routes: true,
  endpoints: true,
  alternativeBackends: true,
  logVariables: true,
  statusAllow: true,
  proxies: true,
  hostPatterns: true,
  users: true,
  networks: true,
  origins: true,
};

/** JSON of a document, arrays kept. A quote inside a JSON string is escaped, so the pattern meets keys only. */
function encodeDocument(document: unknown): string {
  const [out, problem] = encode(document);
  if (out === undefined) {
    error(`cannot encode: ${problem}`);
  }
  const [fixedUp] = string.gsub(out, '"([%w_-]+)":{}', (name: string) => (arrays[name] === true ? `"${name}":[]` : `"${name}":{}`));
  return fixedUp;
}

/** A null would be neither nil nor false in Lua; the place of the first one, or undefined. */
function findNull(value: unknown, at: string): string | undefined {
  if (type(value) === "userdata") {
    return at;
  }
  if (type(value) === "table") {
    for (const [key, member] of pairs(value as LuaTable<string, unknown>)) {
      const found = findNull(member, `${at}.${tostring(key)}`);
      if (found !== undefined) {
        return found;
      }
    }
  }
  return undefined;
}

const checkBackends = list(checkBackend);
const checkHosts = list(checkHost);
const checkTexts = list(text);

export { checkBackends, checkBatch, checkGeneral, checkHosts, checkServers, checkTexts, encodeDocument, findNull, timeouts };
