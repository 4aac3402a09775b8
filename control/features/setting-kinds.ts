/** Kinds of text that only ConfigMap keys have. */

import { isIP } from "node:net";
import { parseCidr } from "../catalog/cidr.ts";
import type { Risk } from "../catalog/feature.ts";
import { headerName, type Kind, pattern } from "../catalog/kinds.ts";

export const filePath = pattern("file path", /^[A-Za-z0-9._:/@,={}-]+$/, "/var/log/nginx/access.log", "a b;");
export const mimeType = pattern("media type", /^[A-Za-z0-9.+-]+\/[A-Za-z0-9.+-]+$/, "text/html", "html");
export const cipherList = pattern("OpenSSL cipher list", /^[A-Za-z0-9!:+\-_@=]*$/, "HIGH:!aNULL", "a b");

export const syslogHost = pattern("host name or IP address", /^\[?[A-Za-z0-9.:_-]*\]?$/, "syslog.example.test", "a b");

/** The key itself, in base64. Wrong keys are refused by nginx, too, but with the whole configuration. */
export const ticketKey: Kind<string> = {
  label: "base64 of 48 or 80 bytes",
  parse(t) {
    const compact = t.replaceAll(/\s+/g, "");
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) return { ok: false, reason: "it is not base64" };
    const { length } = Buffer.from(compact, "base64");
    return length === 48 || length === 80 || length === 0
      ? { ok: true, value: compact }
      : { ok: false, reason: `it holds ${length} bytes, not 48 or 80` };
  },
  examples: [Buffer.alloc(48, 7).toString("base64"), "c2hvcnQ="],
  schema: { type: "string" },
};

/** nginx's slab allocator needs some pages; more is a mistake of unit. */
const dictionaryLimits = { least: 64 * 1024, most: 204_800 * 1024, count: 100 };

/** "name: 20M, other: 512k": bytes by name; without a unit megabytes. Items that cannot be had are left out. */
export const dictionaryList: Kind<Readonly<Record<string, number>>> = {
  label: "list of name: size",
  parse(t) {
    const value: Record<string, number> = {};
    const bad: string[] = [];
    for (const item of t.split(",").flatMap((i) => (i.trim() === "" ? [] : [i.trim()]))) {
      const m = /^([A-Za-z_]\w*)\s*:\s*(\d{1,9})\s*([km]?)$/i.exec(item);
      const bytes = Number(m?.[2]) * (m?.[3]?.toLowerCase() === "k" ? 1024 : 1024 * 1024);
      const { least, most, count } = dictionaryLimits;
      if (m?.[1] === undefined || bytes < least || bytes > most || Object.keys(value).length >= count) bad.push(item);
      else if (m[1] === "luaconfig" || m[1] === "tcp_udp_configuration_data") bad.push(`${item} (its size is fixed)`);
      else value[m[1]] = bytes;
    }
    return bad.length === 0
      ? { ok: true, value }
      : { ok: true, value, dropped: `${bad.join(", ")}: not a dictionary of 64k to 204800k; left out` };
  },
  examples: ["configuration_data: 40M, certificate_data: 512k"],
  schema: { type: "string" },
};

export const address: Kind<string> = {
  label: "IP address",
  parse: (t) =>
    isIP(t.replace(/^\[(.*)\]$/, "$1")) === 0
      ? { ok: false, reason: `"${t}" is not an IP address` }
      : { ok: true, value: t.replace(/^\[(.*)\]$/, "$1") },
  examples: ["10.0.0.1", "10.0.0"],
  schema: { type: "string" },
};

const protocols = new Set(["SSLv2", "SSLv3", "TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"]);

export const tlsProtocols: Kind<readonly string[]> = {
  label: "TLS protocols",
  parse(t) {
    const words = t.split(/[\s,]+/).filter((w) => w !== "");
    const bad = words.find((w) => !protocols.has(w));
    if (bad !== undefined) return { ok: false, reason: `"${bad}" is not a TLS protocol` };
    return words.length === 0 ? { ok: false, reason: "it names no protocol" } : { ok: true, value: words };
  },
  examples: ["TLSv1.2 TLSv1.3", "TLSv9"],
  schema: { type: "string" },
};

const conditions = new Set(
  "error timeout invalid_header http_500 http_502 http_503 http_504 http_403 http_404 http_429 non_idempotent updating off".split(" "),
);

/** Conditions of proxy_next_upstream, once each. */
export const nextUpstream: Kind<string> = {
  label: "conditions of proxy_next_upstream",
  parse(t) {
    const words = [...new Set(t.split(/\s+/).filter((w) => w !== ""))];
    const bad = words.find((w) => !conditions.has(w) || w === "updating");
    if (bad !== undefined) return { ok: false, reason: `"${bad}" is not a condition that nginx knows` };
    return words.length === 0 ? { ok: false, reason: "it names no condition" } : { ok: true, value: words.join(" ") };
  },
  examples: ["error timeout", "http_599"],
  schema: { type: "string" },
};

/** Risk levels in any case; unknown text counts as the strictest. */
export const riskLevel: Kind<Risk> = {
  label: "Low | Medium | High | Critical",
  parse(t) {
    const word = t.trim().toLowerCase();
    return { ok: true, value: word === "medium" || word === "high" || word === "critical" ? word : "low" };
  },
  examples: ["High"],
  schema: { type: "string" },
};

/** Networks; bad ones are left out. When none is good the list names an address that nobody has, so that it does not turn into no list. */
export const goodCidrs: Kind<readonly string[]> = {
  label: "list of IP addresses and CIDRs",
  parse(t) {
    const words = t.split(",").flatMap((w) => (w.trim() === "" ? [] : [w.trim()]));
    const bad = words.filter((w) => parseCidr(w) === undefined);
    if (bad.length === 0) return { ok: true, value: words.flatMap((w) => parseCidr(w) ?? []) };
    const good = words.flatMap((w) => parseCidr(w) ?? []);
    const value = good.length === 0 ? ["255.255.255.255/32"] : good;
    return { ok: true, value, dropped: `${bad.join(", ")}: neither an IP address nor a CIDR; left out` };
  },
  examples: ["10.0.0.0/8, ::1"],
  schema: { type: "string" },
};

/** Statuses that nginx can give a page to; others are left out. */
export const errorCodes: Kind<readonly number[]> = {
  label: "list of statuses 300 to 599",
  parse(t) {
    const words = t.split(",").flatMap((w) => (w.trim() === "" ? [] : [w.trim()]));
    const bad = words.filter((w) => !isErrorCode(w));
    const value = [...new Set(words.filter(isErrorCode).map(Number))];
    if (bad.length === 0) return { ok: true, value };
    return { ok: true, value, dropped: `${bad.join(", ")}: nginx has no error page for it; left out` };
  },
  examples: ["404,503"],
  schema: { type: "string" },
};

// 499 is nginx's own mark for a client that went away
function isErrorCode(word: string): boolean {
  return /^[345]\d\d$/.test(word) && word !== "499";
}

export const redirectCode: Kind<number> = {
  label: "301 | 302 | 307 | 308",
  parse: (t) =>
    /^30[1278]$/.test(t.trim()) ? { ok: true, value: Number(t) } : { ok: false, reason: `"${t}" is not 301, 302, 307 or 308` },
  examples: ["308", "200"],
  schema: { type: "string", enum: ["301", "302", "307", "308"] },
};

/** Header names; what is none is left out, the others count. */
export const goodHeaderNames: Kind<readonly string[]> = {
  label: "list of header names",
  parse(t) {
    const items = t.split(",").map((item) => item.trim());
    const named = items.filter((item) => item !== "");
    const bad = named.filter((item) => !headerName.parse(item).ok);
    const value = named.filter((item) => !bad.includes(item));
    if (bad.length === 0) return { ok: true, value };
    return { ok: true, value, dropped: `${bad.map((item) => JSON.stringify(item)).join(", ")}: no header name; left out` };
  },
  examples: ["X-One, X-Two"],
  schema: { type: "string" },
};

/** As a directive's arguments. */
export function onOff(value: boolean): readonly string[] {
  return [value ? "on" : "off"];
}
