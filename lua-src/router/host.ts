/** The host document for a request's host name: exact, one-label wildcard, listed patterns, catch-all. */
import { Cache } from "../base/cache";
import { logError } from "../base/log";
import { currentGeneral } from "../configuration/general";
import { readEntry } from "../configuration/store";
import type { HostDocument } from "../wire";
import { compileHost, type Host } from "./route";

export type How = "exact" | "wildcard" | "alias" | "pattern" | "catch-all" | "none";

/** What a name leads to. */
export interface Resolution {
  readonly host: Host;
  /** Name of the document. */
  readonly name: string;
  readonly how: How;
  /** What an alias stands for: then `name` is that. */
  readonly aliasOf?: string;
}

const cacheSize = 8192;

/** Compiled documents by their own name; `missing` where there is none. */
const compiled = new Cache<Host>(cacheSize);
/** Hosts by the name that a request gave. Cleared at every change of names: cheap to fill again from `compiled`. */
const resolved = new Cache<Host>(cacheSize);

/** Catch-all paths (health) are answered even without any document. */
const missing = compileHost({ name: "", routes: [] });

function hostNamed(name: string): Host | undefined {
  let host = compiled.get(name);
  if (host === undefined) {
    const document = readEntry("hosts", name) as HostDocument | undefined;
    host = missing;
    if (document !== undefined) {
      const [ok, result] = pcall(compileHost, document);
      if (ok) {
        host = result as Host;
      } else {
        logError("host cannot be compiled", `${name}: ${tostring(result)}`);
      }
    }
    compiled.set(name, host);
  }
  return host === missing ? undefined : host;
}

/** `*.rest` stands for exactly one label of letters, digits, _ and -. */
function wildcardOf(name: string): string | undefined {
  const [rest] = string.match(name, "^[%w_-]+(%..+)$");
  return rest === undefined ? undefined : `*${rest}`;
}

function matchesPattern(name: string, pattern: string): boolean {
  if (string.sub(pattern, 1, 1) === "~") {
    const [from] = ngx.re.find(name, string.sub(pattern, 2), "ijo");
    return from !== undefined;
  }
  if (string.sub(pattern, 1, 2) === "*.") {
    return string.sub(name, -(pattern.length - 1)) === string.sub(pattern, 2) && name.length >= pattern.length;
  }
  if (string.sub(pattern, -2) === ".*") {
    return string.sub(name, 1, pattern.length - 1) === string.sub(pattern, 1, -2) && name.length >= pattern.length;
  }
  return name === pattern;
}

function findByPattern(name: string): Resolution | undefined {
  for (const { pattern, host: target } of currentGeneral().hostPatterns) {
    const host = matchesPattern(name, pattern) ? hostNamed(target) : undefined;
    if (host !== undefined) {
      return { host, name: target, how: "pattern" };
    }
  }
  return undefined;
}

function followAlias(host: Host, name: string, how: How): Resolution {
  const target = host.more?.aliasOf;
  const aliased = target === undefined ? undefined : hostNamed(target);
  return aliased === undefined ? { host, name, how } : { host: aliased, name: target!, how: "alias", aliasOf: target };
}

/** Never undefined: without any catch-all document the host has no routes. */
function resolveHost(name: string): Resolution {
  const exact = hostNamed(name);
  if (exact !== undefined && name !== "") {
    return followAlias(exact, name, "exact");
  }
  const wildcard = wildcardOf(name);
  const byWildcard = wildcard === undefined ? undefined : hostNamed(wildcard);
  if (byWildcard !== undefined) {
    return followAlias(byWildcard, wildcard!, "wildcard");
  }
  const byPattern = findByPattern(name);
  if (byPattern !== undefined) {
    return byPattern;
  }
  const catchAll = hostNamed("");
  return catchAll === undefined ? { host: missing, name: "", how: "none" } : { host: catchAll, name: "", how: "catch-all" };
}

/** Whether the name has a document of its own; "" is not asked about. */
function isNamedHost(name: string): boolean {
  return hostNamed(name) !== undefined;
}

/** For requests: remembers. */
function findHost(name: string): Host {
  let host = resolved.get(name);
  if (host === undefined) {
    host = resolveHost(name).host;
    resolved.set(name, host);
  }
  return host;
}

function forgetHosts(names: readonly string[]): void {
  for (const name of names) {
    compiled.drop(name);
  }
  resolved.clear();
}

function forgetAllHosts(): void {
  compiled.clear();
  resolved.clear();
}

function forgetResolutions(): void {
  resolved.clear();
}

export { findHost, forgetAllHosts, forgetHosts, forgetResolutions, isNamedHost, resolveHost };
