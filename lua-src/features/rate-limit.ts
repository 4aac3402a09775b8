/** limit-rps, limit-rpm, limit-connections: what is above the limit is refused. Counted per Ingress and key. */
import { clientBytes } from "../access/client-address";
import { contains, type Networks, networksOf } from "../access/networks";
import { logError } from "../base/log";
import { expandTemplate, parseTemplate, type Template } from "../base/template";
import { addresses, integer, list, number, object, oneOf, text } from "../configuration/check";
import type { RateLimitDocument } from "../wire";
import { enter } from "./connection-count";
import type { Feature, RequestState } from "./feature";
import { type BucketLimit, clock, fill, lock, look, unlock } from "./leaky-bucket";

interface NamedLimit extends BucketLimit {
  readonly name: "rps" | "rpm";
  /** Start of the key in shared memory. */
  readonly prefix: string;
}

interface RateLimit {
  /** Where the key is one variable: its name; else the template. */
  readonly variable: string | undefined;
  readonly template: Template;
  readonly allow: Networks | undefined;
  readonly requests: readonly NamedLimit[];
  readonly connections: number | undefined;
  readonly connectionPrefix: string;
  readonly requestStatus: number;
  readonly connectionStatus: number;
}

const longestKey = 64;
const usualKey = "binary_remote_addr";

/** Marks a request that was looked at: like nginx, once, however often it is redirected internally. */
function firstLook(): boolean {
  if (ngx.var.get("sluice_limited") === "1") {
    return false;
  }
  ngx.var.set("sluice_limited", "1");
  return true;
}

function isAllowed(allow: Networks | undefined): boolean {
  return allow !== undefined && contains(allow, clientBytes());
}

function keyOf({ variable, template }: RateLimit): string {
  const key = variable === undefined ? expandTemplate(template) : variable === usualKey ? clientBytes() : (ngx.var.get(variable) ?? "");
  return key.length > longestKey ? ngx.md5(key) : key;
}

/** The limit that refuses the request. Nothing is counted unless all of them let it pass. */
function overLimit(requests: readonly NamedLimit[], key: string): NamedLimit | undefined {
  const now = clock();
  for (const limit of requests) {
    const [excess] = look(limit.prefix + key, limit, now);
    if (excess > limit.burst) {
      return limit;
    }
  }
  for (const limit of requests) {
    fill(limit.prefix + key, limit, now);
  }
  return undefined;
}

function lockedOverLimit(requests: readonly NamedLimit[], key: string): NamedLimit | undefined {
  const name = requests[0]!.prefix + key;
  const locked = lock(name);
  const over = overLimit(requests, key);
  if (locked) {
    unlock(name);
  }
  return over;
}

function logRefusal(what: string, { route }: RequestState): void {
  logError(what, `Ingress ${route.source.get(1)}/${route.source.get(2)}`);
}

function late(config: RateLimit, request: RequestState): LuaMultiReturn<[number?, string?]> {
  if (!firstLook() || isAllowed(config.allow)) {
    return $multi();
  }
  const key = keyOf(config);
  if (key === "") {
    return $multi();
  }
  const over = config.requests.length === 0 ? undefined : lockedOverLimit(config.requests, key);
  if (over !== undefined) {
    logRefusal(
      over.name === "rps" ? "too many requests per second, by limit-rps of" : "too many requests per minute, by limit-rpm of",
      request,
    );
    return $multi(config.requestStatus);
  }
  if (config.connections !== undefined && !enter(config.connectionPrefix + key, config.connections, true)) {
    logRefusal("too many requests in progress, by limit-connections of", request);
    return $multi(config.connectionStatus);
  }
  return $multi();
}

/** Only here so that the route's location has the hook that ends what requests hold. */
function log(): LuaMultiReturn<[number?, string?]> {
  return $multi();
}

function prepare(document: RateLimitDocument): RateLimit {
  const requests: NamedLimit[] = [];
  for (const { name, rate, burst } of document.requests ?? []) {
    requests[requests.length] = { name, prefix: `r:${document.zone}:${name}:`, rate, burst };
  }
  const [variable] = string.match(document.key, "^%$([%a_][%w_]*)$");
  return {
    variable: variable === undefined ? undefined : string.lower(variable),
    template: parseTemplate(document.key),
    allow: document.allow === undefined ? undefined : networksOf(document.allow),
    requests,
    connections: document.connections,
    connectionPrefix: `c:${document.zone}:`,
    requestStatus: document.requestStatus,
    connectionStatus: document.connectionStatus,
  };
}

const status = integer(400, 599);

export const rateLimit: Feature<RateLimitDocument, RateLimit> = {
  check: object({
    zone: text,
    key: text,
    "allow?": addresses,
    "requests?": list(object({ name: oneOf("rps", "rpm"), rate: integer(1, 1e15), burst: number })),
    "connections?": integer(1, 2147483647),
    requestStatus: status,
    connectionStatus: status,
  }),
  prepare: (document) => prepare(document),
  late,
  log,
};
