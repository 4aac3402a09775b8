/** enable-cors: preflights are answered here, all other answers get the headers if the origin may read them. */
import { flag, integer, list, object, text } from "../configuration/check";
import type { CorsDocument } from "../wire";
import type { Feature, RequestState } from "./feature";

/** "scheme://" and ".rest[:port]" around the one label that "*" stands for. */
interface Wildcard {
  readonly start: string;
  readonly end: string;
}

interface Cors {
  readonly any: boolean;
  readonly exact: LuaTable<string, true>;
  readonly wildcards: LuaTable<number, Wildcard>;
  readonly wildcardCount: number;
  readonly methods: string;
  readonly headers: string;
  readonly credentials: boolean;
  readonly expose: string | undefined;
  readonly maxAge: string;
}

function matchesWildcard(origin: string, { start, end }: Wildcard): boolean {
  if (string.sub(origin, 1, start.length) !== start || string.sub(origin, -end.length) !== end) {
    return false;
  }
  const [label] = string.find(string.sub(origin, start.length + 1, -end.length - 1), "^[%w-]+$");
  return label !== undefined;
}

function isAllowed(config: Cors, origin: string): boolean {
  const lower = string.lower(origin);
  if (config.exact.get(lower) !== undefined) {
    return true;
  }
  for (const i of $range(1, config.wildcardCount)) {
    if (matchesWildcard(lower, config.wildcards.get(i)!)) {
      return true;
    }
  }
  return false;
}

/** Access-Control-Allow-Origin for this request; undefined: the origin is not allowed, or there is none to allow. */
function allowedOrigin(config: Cors): string | undefined {
  if (config.any) {
    return "*";
  }
  const origin = ngx.var.get("http_origin");
  return origin !== undefined && isAllowed(config, origin) ? origin : undefined;
}

function early(config: Cors): LuaMultiReturn<[number?, string?]> {
  if (ngx.var.get("request_method") === "OPTIONS" && allowedOrigin(config) !== undefined) {
    return $multi(204);
  }
  return $multi();
}

function header(config: Cors, request: RequestState): LuaMultiReturn<[number?, string?]> {
  const origin = allowedOrigin(config);
  if (origin === undefined) {
    return $multi();
  }
  const out = ngx.header;
  out.set("Access-Control-Allow-Origin", origin);
  if (config.credentials) {
    out.set("Access-Control-Allow-Credentials", "true");
  }
  out.set("Access-Control-Allow-Methods", config.methods);
  out.set("Access-Control-Allow-Headers", config.headers);
  if (config.expose !== undefined) {
    out.set("Access-Control-Expose-Headers", config.expose);
  }
  out.set("Access-Control-Max-Age", config.maxAge);
  if (request.exit === 204) {
    out.set("Content-Length", "0");
  }
  return $multi();
}

function prepare(document: CorsDocument): Cors {
  const exact = new LuaTable<string, true>();
  const wildcards = new LuaTable<number, Wildcard>();
  let wildcardCount = 0;
  for (const origin of document.origins) {
    const [start, end] = string.match(origin, "^([^*]+)%*(%..+)$");
    if (start === undefined || end === undefined) {
      exact.set(origin, true);
    } else {
      wildcardCount += 1;
      wildcards.set(wildcardCount, { start, end });
    }
  }
  const { methods, headers, credentials, expose, maxAge } = document;
  const any = exact.get("*") !== undefined;
  return { any, exact, wildcards, wildcardCount, methods, headers, credentials, expose, maxAge: string.format("%d", maxAge) };
}

export const cors: Feature<CorsDocument, Cors> = {
  check: object({
    origins: list(text),
    methods: text,
    headers: text,
    credentials: flag,
    "expose?": text,
    maxAge: integer(-2147483648, 2147483647),
  }),
  prepare: (document) => prepare(document),
  early,
  header,
};

export { isAllowed, prepare as prepareCors };
