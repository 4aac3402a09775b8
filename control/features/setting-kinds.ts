/** Kinds of text that only ConfigMap keys have. */

import { isIP } from "node:net";
import type { Risk } from "../catalog/feature.ts";
import { type Kind, pattern } from "../catalog/kinds.ts";

export const filePath = pattern("file path", /^[A-Za-z0-9._:/@,={}-]+$/, "/var/log/nginx/access.log", "a b;");
export const mimeType = pattern("media type", /^[A-Za-z0-9.+-]+\/[A-Za-z0-9.+-]+$/, "text/html", "html");
export const cipherList = pattern("OpenSSL cipher list", /^[A-Za-z0-9!:+\-_@=]*$/, "HIGH:!aNULL", "a b");

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

export const redirectCode: Kind<number> = {
  label: "301 | 302 | 307 | 308",
  parse: (t) =>
    /^30[1278]$/.test(t.trim()) ? { ok: true, value: Number(t) } : { ok: false, reason: `"${t}" is not 301, 302, 307 or 308` },
  examples: ["308", "200"],
  schema: { type: "string", enum: ["301", "302", "307", "308"] },
};
