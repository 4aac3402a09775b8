/** Names that lead to a host without being one: server-alias, and the counterpart with or without "www." that redirects. */

import { readAlias, wwwCounterpart } from "../catalog/alias-names.ts";
import type { Settings } from "../catalog/settings.ts";
import { isGroupIgnored } from "../features/redirect.ts";
import type { Certificate } from "../model/certificate.ts";
import type { Finding } from "../model/finding.ts";
import type { Host, HostPattern } from "../model/model.ts";
import type { Accepted } from "./accept.ts";
import { covers } from "./certificates.ts";
import type { HostLocations } from "./ingress.ts";

export interface ExtraHostContext {
  readonly hosts: ReadonlyMap<string, HostLocations>;
  /** Certificate of a host; undefined without a tls section. */
  readonly certificateOf: (host: string) => Certificate | undefined;
  readonly settings: Settings;
  readonly findings: Finding[];
}

export interface ExtraHosts {
  readonly hosts: readonly Host[];
  /** In the order in which they are tried. */
  readonly patterns: readonly HostPattern[];
}

export function extraHosts(context: ExtraHostContext): ExtraHosts {
  const hosts = new Map<string, Host>();
  for (const host of wwwRedirects(context)) hosts.set(host.name, host);
  const patterns = new Map<string, HostPattern>();
  const takenBy = new Map<string, string>();
  for (const host of context.hosts.values()) {
    for (const { alias, owner } of aliasesOf(host, context)) {
      const winner = takenBy.get(alias) ?? hosts.get(alias)?.settings.redirectTo?.host;
      if (winner !== undefined) {
        report(context, owner, alias, `leads to host "${winner}" already`, winner);
        continue;
      }
      takenBy.set(alias, host.name);
      const certificate = coveringId(context.certificateOf(host.name), alias);
      if (isPattern(alias)) patterns.set(alias, { pattern: alias, host: host.name, certificate });
      else hosts.set(alias, { name: alias, settings: { aliasOf: host.name }, routes: [], certificate });
    }
  }
  return { hosts: [...hosts.values()], patterns: [...patterns.values()].sort(asNginxTries) };
}

/** The host's certificate is shown for another name only where it names that one too. */
function coveringId(certificate: Certificate | undefined, name: string): string | undefined {
  if (certificate === undefined) return undefined;
  return covers([...certificate.names, certificate.commonName.toLowerCase()], name) ? certificate.id : undefined;
}

function* wwwRedirects(context: ExtraHostContext): Generator<Host> {
  for (const host of context.hosts.values()) {
    if (!host.owners.some((o) => o.annotations.values["from-to-www-redirect"] === true && !isGroupIgnored(o.annotations.values))) continue;
    const name = wwwCounterpart(host.name);
    if (name === "" || context.hosts.has(name)) continue;
    yield {
      name,
      settings: { redirectTo: { host: host.name, code: context.settings["http-redirect-code"] } },
      routes: [],
      certificate: coveringId(context.certificateOf(host.name), name),
    };
  }
}

interface Alias {
  readonly alias: string;
  readonly owner: Accepted;
}

/** Of the oldest Ingress with a list, without what is a host anyway; sorted. */
function aliasesOf(host: HostLocations, context: ExtraHostContext): Alias[] {
  const listOf = (o: Accepted) => (o.annotations.values["server-alias"] as readonly string[] | undefined) ?? [];
  const owner = host.owners.find((o) => listOf(o).length > 0);
  if (owner === undefined) return [];
  for (const later of host.owners.slice(host.owners.indexOf(owner) + 1)) {
    if (listOf(later).length > 0 && listOf(later).join() !== listOf(owner).join()) {
      report(
        context,
        later,
        listOf(later).join(", "),
        `is not used for host "${host.name}": the list of the older Ingress ${owner.ref.name} counts`,
      );
    }
  }
  const names = new Set<string>();
  for (const text of listOf(owner)) {
    const read = readAlias(text);
    if (read.length === 0) invalid(context, owner, text);
    for (const alias of read) {
      if (alias === host.name) continue;
      if (context.hosts.has(alias)) report(context, owner, alias, "is a host of its own, which comes first", alias);
      else names.add(alias);
    }
  }
  return [...names].sort().map((alias) => ({ alias, owner }));
}

function isPattern(alias: string): boolean {
  return alias.startsWith("~") || alias.includes("*");
}

/** Longest "*.x", longest "x.*", then expressions as they come. */
function asNginxTries(a: HostPattern, b: HostPattern): number {
  const rank = (p: HostPattern) => (p.pattern.startsWith("*") ? 0 : p.pattern.startsWith("~") ? 2 : 1);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  return rank(a) === 2 ? 0 : b.pattern.length - a.pattern.length;
}

/** `winner`: the host that has the name. */
function report(context: ExtraHostContext, owner: Accepted, alias: string, text: string, winner?: string): void {
  const other = winner === undefined ? undefined : context.hosts.get(winner)?.owners[0]?.ref;
  context.findings.push({
    code: "alias-conflict",
    about: owner.ref,
    at: "metadata.annotations[server-alias]",
    text: `"${alias}" ${text}`,
    ...(other === undefined || other === owner.ref ? {} : { also: [other] }),
  });
}

function invalid(context: ExtraHostContext, owner: Accepted, alias: string): void {
  const text = `server-alias "${alias}" is neither a name, *.name, name.* nor an expression; it is left out`;
  context.findings.push({ code: "host-invalid", about: owner.ref, at: "metadata.annotations[server-alias]", text });
}
