/** One item of server-alias → the names that it stands for, as the router wants them. */

import { regexText } from "./kinds.ts";

const label = "[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?";
const plain = new RegExp(`^(${label}(\\.${label})*|\\[[0-9a-f:.]+\\])$`);

/** ".x" is "x" and "*.x". Empty: nginx would have refused it. */
export function readAlias(text: string): string[] {
  if (text.startsWith("~")) return text.length > 1 && regexText.parse(text.slice(1)).ok ? [text] : [];
  const name = text.toLowerCase().replace(/\.$/, "");
  const bare = name.replace(/^\*?\./, "").replace(/\.\*$/, "");
  if (!plain.test(bare) || (/^\*?\./.test(name) && name.endsWith("*"))) return [];
  return name.startsWith(".") ? [bare, `*${name}`] : [name];
}

/** The name with "www." where it has none, and without it where it has; "" for a wildcard or the catch-all. */
export function wwwCounterpart(host: string): string {
  if (host === "" || host.startsWith("*")) return "";
  return host.startsWith("www.") ? host.slice(4) : `www.${host}`;
}
