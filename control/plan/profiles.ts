/** Groups routes by what nginx cannot vary at run time: equal sets of directives are one profile, hence one location. */

import { createHash } from "node:crypto";
import type { Directive, Protocol, Route } from "../model/model.ts";
import type { Family, Profile } from "./conf-view.ts";

const families: Readonly<Record<Protocol, Family>> = {
  HTTP: "http",
  HTTPS: "https",
  GRPC: "grpc",
  GRPCS: "grpcs",
  FCGI: "fcgi",
  AUTO_HTTP: "auto",
};

/** More distinct profiles than this are a finding: nginx.conf must not grow with the cluster. */
export const profileLimit = 500;

/** The profile of a route; undefined is the default location. */
export function profileOf(route: Pick<Route, "protocol" | "fixed" | "target">): Profile | undefined {
  if (route.target.kind === "fixed") return undefined;
  return profileFor(families[route.protocol], route.fixed);
}

function profileFor(family: Family, fixed: readonly Directive[]): Profile | undefined {
  if (family === "http" && fixed.length === 0) return undefined;
  const directives = [...fixed].sort(byText);
  const pool = poolOf(family, directives);
  const text = JSON.stringify([family, directives]);
  const id = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return { id, family, directives, ...(pool === undefined ? {} : { pool }) };
}

function byText(a: Directive, b: Directive): number {
  const at = JSON.stringify(a);
  const bt = JSON.stringify(b);
  return at < bt ? -1 : at > bt ? 1 : 0;
}

/** Connections are kept by address alone: settings that make one connection unlike another need a pool of their own. */
function poolOf(family: Family, directives: readonly Directive[]): string | undefined {
  const own = directives.filter((d) => d.name.includes("_ssl_"));
  if (own.length === 0) return undefined;
  return createHash("sha256")
    .update(JSON.stringify([family, own]))
    .digest("hex")
    .slice(0, 12);
}

/** Profiles that are always there, so that the first Ingress to use one costs no reload. */
export function builtInProfiles(): readonly Profile[] {
  const common: [Family, readonly Directive[]][] = [
    ["http", [{ name: "proxy_buffering", args: ["on"] }]],
    ["http", [{ name: "proxy_request_buffering", args: ["off"] }]],
    ["http", [{ name: "client_max_body_size", args: ["0"] }]],
    ["https", []],
    ["grpc", []],
    ["grpcs", []],
    ["auto", []],
    ["fcgi", []],
  ];
  return common.flatMap(([family, directives]) => profileFor(family, directives) ?? []);
}
