/** Groups routes by what nginx cannot vary at run time: equal sets of directives are one profile, hence one location. */

import { createHash } from "node:crypto";
import type { Finding } from "../model/finding.ts";
import type { FileText, Fixed, Protocol, Route, SnippetText } from "../model/model.ts";
import type { Directive, Family, Profile, RequestHeader } from "./conf-view.ts";

const families: Readonly<Record<Protocol, Family>> = {
  HTTP: "http",
  HTTPS: "https",
  GRPC: "grpc",
  GRPCS: "grpcs",
  FCGI: "fcgi",
  AUTO_HTTP: "auto",
};

/** More distinct profiles than this are a finding: nginx.conf must not grow with the cluster. */
const profileLimit = 500;

export function tooManyProfiles(count: number): Finding[] {
  if (count <= profileLimit) return [];
  const about = { kind: "ConfigMap", namespace: "", name: "nginx.conf" };
  return [{ code: "profile-limit", about, at: "", text: `there are ${count} distinct profiles` }];
}

/** Routes live as long as nothing changes them. */
const memo = new WeakMap<object, { readonly profile: Profile | undefined }>();

/** The profile of a route; undefined is the default location. */
export function profileOf(route: Pick<Route, "protocol" | "fixed" | "target">): Profile | undefined {
  if (route.target.kind === "fixed") return undefined;
  let known = memo.get(route);
  if (known === undefined) {
    known = { profile: profileFor(families[route.protocol], route.fixed) };
    memo.set(route, known);
  }
  return known.profile;
}

function profileFor(family: Family, fixed: readonly Fixed[]): Profile | undefined {
  if (family === "http" && fixed.length === 0) return undefined;
  // Stable: the order of equal names may mean something.
  const directives = fixed.filter((f): f is Directive => "name" in f).sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const fastcgiParams = fixed.flatMap((f): RequestHeader[] => ("fastcgiParam" in f ? [{ name: f.fastcgiParam, value: f.value }] : []));
  const snippets = fixed.filter((f): f is SnippetText => "snippet" in f);
  const requires = fixed.flatMap((f) => ("requires" in f ? [f.requires] : []));
  const pool = poolOf(family, directives);
  const rest = {
    ...(snippets.length === 0 ? {} : { snippets }),
    ...(requires.length === 0 ? {} : { requires }),
    ...(fastcgiParams.length === 0 ? {} : { fastcgiParams }),
    ...(pool === undefined ? {} : { pool }),
    ...(directives.some(namesVaryingHost) ? { keepalive: false as const } : {}),
  };
  const id = hash([family, directives, fastcgiParams, snippets, requires]);
  return { id, family, directives, ...rest };
}

function hash(of: unknown): string {
  return createHash("sha256").update(JSON.stringify(of)).digest("hex").slice(0, 12);
}

/** Connections are kept by address alone: settings that make one connection unlike another need a pool of their own. */
function poolOf(family: Family, directives: readonly Directive[]): string | undefined {
  const own = directives.filter((d) => d.name.includes("_ssl_"));
  return own.length === 0 ? undefined : hash([family, own]);
}

/** A connection that was opened under one name must not serve another. */
function namesVaryingHost(directive: Directive): boolean {
  return directive.name.endsWith("_ssl_name") && directive.args.some((a) => typeof a === "string" && a.includes("$"));
}

/** Files that the directives read, by name. */
export function filesOf(directives: Iterable<Directive>): Map<string, FileText> {
  const out = new Map<string, FileText>();
  for (const directive of directives) {
    for (const argument of directive.args) {
      if (typeof argument === "object" && "file" in argument) out.set(argument.file, argument);
    }
  }
  return out;
}

/** Profiles that are always there, so that the first Ingress to use one costs no reload. */
export function builtInProfiles(): readonly Profile[] {
  const common: [Family, readonly Directive[]][] = [
    ["http", [{ name: "proxy_buffering", args: ["on"] }]],
    ["http", [{ name: "proxy_request_buffering", args: ["off"] }]],
    ["http", [{ name: "client_max_body_size", args: ["0"] }]],
    [
      "http",
      [
        { name: "mirror", args: ["/~mirror"] },
        { name: "mirror_request_body", args: ["on"] },
      ],
    ],
    ["https", []],
    ["grpc", []],
    ["grpcs", []],
    ["auto", []],
    ["fcgi", []],
  ];
  return common.flatMap(([family, directives]) => profileFor(family, directives) ?? []);
}
