/** /etc/resolv.conf → name servers and how short names are completed. */

import { readFileSync } from "node:fs";

export interface ResolvConf {
  /** ip, ip:port or [ip6]:port; an IPv6 address alone has no brackets. */
  readonly nameservers: readonly string[];
  readonly search: readonly string[];
  /** A name with fewer dots is completed before it is tried as it is. */
  readonly ndots: number;
}

/** A file that cannot be read counts as empty. */
export function readResolvConf(path = "/etc/resolv.conf"): ResolvConf {
  try {
    return parseResolvConf(readFileSync(path, "utf8"));
  } catch {
    return parseResolvConf("");
  }
}

export function parseResolvConf(text: string): ResolvConf {
  const nameservers: string[] = [];
  let search: string[] = [];
  let ndots = 1;
  for (const line of text.split("\n")) {
    const [keyword, ...words] = line
      .replace(/[#;].*$/, "")
      .trim()
      .split(/\s+/);
    if (keyword === "nameserver" && words[0] !== undefined) nameservers.push(words[0]);
    // The last search or domain line holds.
    if (keyword === "search" || keyword === "domain") search = words.filter((word) => word !== "").map((word) => word.replace(/\.$/, ""));
    if (keyword !== "options") continue;
    for (const word of words) {
      const dots = /^ndots:(\d{1,2})$/.exec(word)?.[1];
      if (dots !== undefined) ndots = Math.min(15, Number(dots));
    }
  }
  return { nameservers, search: search.filter((domain) => domain !== ""), ndots };
}

/** The names to ask for, in order. A name that ends in "." is asked for as it is only. */
export function candidates(name: string, conf: ResolvConf): string[] {
  if (name.endsWith(".")) return [name.slice(0, -1)];
  const completed = conf.search.map((domain) => `${name}.${domain}`);
  const dots = name.split(".").length - 1;
  return dots < conf.ndots ? [...completed, name] : [name, ...completed];
}
