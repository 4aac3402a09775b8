/** Annotations: ModSecurity. Rules are files beside nginx.conf, so their text is never nginx's. */

import { createHash } from "node:crypto";
import { feature, type Notice, row } from "../catalog/feature.ts";
import { bool, snippet, variableText } from "../catalog/kinds.ts";
import type { Settings } from "../catalog/settings.ts";
import { Private } from "../model/certificate.ts";
import type { Directive } from "../model/model.ts";
import { allowedSnippet } from "./snippets.ts";

/** Of Debian's libnginx-mod-http-modsecurity: detects, refuses nothing. */
const baseFile = "/etc/nginx/modsecurity.conf";

/** Of Debian's modsecurity-crs; its own list uses a word that libmodsecurity 3 does not have. */
const coreRules = [
  "/etc/modsecurity/crs/crs-setup.conf",
  "/etc/modsecurity/crs/REQUEST-900-EXCLUSION-RULES-BEFORE-CRS.conf",
  "/usr/share/modsecurity-crs/rules/*.conf",
  "/etc/modsecurity/crs/RESPONSE-999-EXCLUSION-RULES-AFTER-CRS.conf",
]
  .map((path) => `Include ${path}`)
  .join("\n");

function rules(text: string): Directive {
  const content = `${text.trim()}\n`;
  const file = `waf-${createHash("sha256").update(content).digest("hex").slice(0, 32)}.conf`;
  return { name: "modsecurity_rules_file", args: [{ file, content: new Private(content) }] };
}

const base: Directive = { name: "modsecurity_rules_file", args: [{ literal: baseFile }] };

/** For the http block, where the ConfigMap turns ModSecurity on. */
export function wafDirectives(settings: Settings): Directive[] {
  if (!settings["enable-modsecurity"]) return [];
  const own = settings["modsecurity-snippet"].trim();
  return [
    { name: "modsecurity", args: ["on"] },
    own === "" ? base : rules(own),
    ...(settings["enable-owasp-modsecurity-crs"] ? [rules(coreRules)] : []),
  ];
}

export const waf = feature({
  name: "waf",
  rows: {
    "enable-modsecurity": row({
      kind: bool,
      default: undefined,
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "true turns ModSecurity on in the location (with the base rules when it is not on for all and there is no snippet); false turns it off when it is on for all. Where this nginx has no ModSecurity the location answers 503.",
    }),
    "enable-owasp-core-rules": row({
      kind: bool,
      default: false,
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "Adds the core rule set in the location when ModSecurity is on there and ConfigMap enable-owasp-modsecurity-crs is false.",
    }),
    "modsecurity-snippet": row({
      kind: snippet,
      default: undefined,
      risk: "critical",
      onInvalid: "default",
      applies: "profile",
      doc: "Rules in place of the base rules, in ModSecurity's own language. Needs allow-snippet-annotations, else it is left out.",
    }),
    "modsecurity-transaction-id": row({
      kind: variableText,
      default: undefined,
      risk: "high",
      onInvalid: "default",
      applies: "profile",
      doc: "Id of the transaction in ModSecurity's logs; may hold nginx variables.",
    }),
  },
  notices(v, place): readonly Notice[] {
    if ((v["modsecurity-snippet"] ?? "").trim() === "" || place.settings["allow-snippet-annotations"]) return [];
    return [{ annotation: "modsecurity-snippet", reason: "the ConfigMap does not set allow-snippet-annotations; it is left out" }];
  },
  fixed(v, place) {
    const everywhere = place.settings["enable-modsecurity"];
    const here = v["enable-modsecurity"];
    if (here === false) return everywhere ? [{ name: "modsecurity", args: ["off"] }] : [];
    if (here !== true && !everywhere) return [];
    const own = allowedSnippet(v["modsecurity-snippet"], place.settings);
    const id = v["modsecurity-transaction-id"];
    const out: Directive[] = everywhere ? [] : [{ name: "modsecurity", args: ["on"] }];
    if (own !== undefined) out.push(rules(own));
    else if (!everywhere) out.push(base);
    if (v["enable-owasp-core-rules"] && !place.settings["enable-owasp-modsecurity-crs"]) out.push(rules(coreRules));
    if (id !== undefined) out.push({ name: "modsecurity_transaction_id", args: [id] });
    return out;
  },
});
