/** Kinds of text that only external authentication has. */

import { headerName, type Kind, type Parsed } from "../catalog/kinds.ts";

export const authMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE"] as const;

/** Why an auth service cannot be asked at this URL; undefined when it can. It may hold variables, not in scheme and port. */
export function authUrlProblem(text: string): string | undefined {
  const m = /^([A-Za-z]+):\/\/([^/?#]*)/.exec(text.replaceAll(" ", ""));
  if (m === null || !/^https?$/i.test(m[1] ?? "")) return `"${text}" does not start with http:// or https://`;
  const [, host = "", port] = /^(.*?)(?::([^:\]]*))?$/.exec(m[2] ?? "") ?? [];
  if (host === "" || host.includes("..")) return `"${text}" names no host`;
  if (host.includes("@")) return `"${text}" holds a user name`;
  const number = port === undefined || port === "" ? 80 : /^\d{1,5}$/.test(port) ? Number(port) : 0;
  return number < 1 || number > 65535 ? `"${text}" has no usable port` : undefined;
}

/** For ConfigMap keys: any URL text without white space, of the form that authUrlProblem wants. */
export const serviceUrl: Kind<string> = {
  label: "URL, may hold variables",
  parse(text) {
    const t = text.trim();
    if (/[\s\0-\x1f\x7f"'\\]/.test(t)) return no(`"${t}" is not a URL`);
    const problem = authUrlProblem(t);
    return problem === undefined ? { ok: true, value: t } : no(problem);
  },
  examples: ["http://auth.example.svc.cluster.local/check", "auth/check"],
  schema: { type: "string" },
};

/** What frames a message, or names its host, belongs to the one message it came with. */
const framing = new Set(
  "connection content-length expect host keep-alive proxy-connection te trailer transfer-encoding upgrade".split(" "),
);

export const carriedHeader: Kind<string> = {
  label: "header name",
  parse(text) {
    const parsed = headerName.parse(text);
    return parsed.ok && framing.has(parsed.value.toLowerCase()) ? no(`"${text}" is not a header to hand on`) : parsed;
  },
  examples: ["X-User", "Content-Length"],
  schema: { type: "string" },
};

/** Host may be said anew to the auth service. */
export const requestHeader: Kind<string> = {
  ...carriedHeader,
  parse: (text) => (text.trim().toLowerCase() === "host" ? { ok: true, value: text.trim() } : carriedHeader.parse(text)),
};

/** Names between commas; what is none is left out. */
export const carriedHeaders: Kind<readonly string[]> = {
  label: "list of header names",
  parse(text) {
    const names = text.split(",").flatMap((item) => {
      const parsed = carriedHeader.parse(item.trim());
      return parsed.ok ? [parsed.value] : [];
    });
    return { ok: true, value: names };
  },
  examples: ["X-User, X-Groups"],
  schema: { type: "string" },
};

/** How long answers with one of the codes are kept; code 0 stands for any. */
export interface CacheValidity {
  readonly codes: readonly number[];
  readonly seconds: number;
}

const units: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
  M: 2_592_000,
  y: 31_536_000,
};
const times = /^(\d{1,9}(ms|[smhdwMy]))+$/;

/** Seconds of "5m" or "1h30m". */
function seconds(text: string): number {
  let sum = 0;
  for (const [, digits, unit] of text.matchAll(/(\d+)(ms|[smhdwMy])/g)) sum += Number(digits) * (units[unit ?? ""] ?? 0);
  return sum;
}

function codeOf(word: string): number | undefined {
  if (word === "any") return 0;
  return /^[1-5]\d\d$/.test(word) ? Number(word) : undefined;
}

/** One item, as nginx's proxy_cache_valid: codes or "any", then one time; a time alone is for 200, 301 and 302. */
function validity(item: string): CacheValidity | undefined {
  const words = item.split(/\s+/).filter((w) => w !== "");
  const last = words.pop() ?? "";
  if (!times.test(last)) return undefined;
  const codes = words.map(codeOf);
  if (codes.includes(undefined)) return undefined;
  return { codes: codes.length === 0 ? [200, 301, 302] : (codes as number[]), seconds: seconds(last) };
}

export const defaultDurations: readonly CacheValidity[] = [{ codes: [200, 202, 401], seconds: 300 }];

export const cacheDurations: Kind<readonly CacheValidity[]> = {
  label: "list of status codes with a time",
  parse(text): Parsed<readonly CacheValidity[]> {
    const out: CacheValidity[] = [];
    for (const item of text.split(",")) {
      if (item.trim() === "") continue;
      const one = validity(item);
      if (one === undefined) return no(`"${item.trim()}" is not status codes followed by one time, such as "200 202 10m"`);
      out.push(one);
    }
    return { ok: true, value: out.length === 0 ? defaultDurations : out };
  },
  examples: ["200 202 10m, 401 1m", "200 forever"],
  schema: { type: "string" },
};

function no(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
