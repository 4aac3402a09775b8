/** What a host amounts to, as nginx-like text: for people who look for `location` where nginx.conf has none of their own. */

import type { HostDocument, RouteDocument } from "../../lua-src/wire.ts";

const marks = { exact: "= ", prefix: "", iprefix: "~* ^", regex: "~* ^" } as const;

/** `conf` is nginx.conf, for the directives of the routes' profiles. */
export function hostConf(host: HostDocument, conf: string): string {
  const name = host.name === "" ? "_" : host.name;
  const lines = [`## start server ${name}`, "server {", `    server_name ${quoted(name)};`];
  if (host.aliasOf !== undefined) lines.push(`    # served as ${host.aliasOf}`);
  if (host.deny !== undefined) lines.push(`    return ${host.deny};`);
  if (host.redirectTo !== undefined) lines.push(`    return ${host.redirectTo.code} $scheme://${host.redirectTo.host}$request_uri;`);
  if (host.appRoot !== undefined) lines.push("    location = / {", `        return 302 ${quoted(host.appRoot)};`, "    }");
  if (host.tls !== undefined) lines.push(...settingLines("tls", host.tls, "    "));
  for (const route of host.routes) lines.push("", ...routeLines(route, conf));
  return `${[...lines, "}", `## end server ${name}`].join("\n")}\n`;
}

function routeLines(route: RouteDocument, conf: string): string[] {
  const { source, fixed } = route;
  const lines = [`    location ${marks[route.kind]}${quoted(route.path)} {`];
  if (source.ingress !== "") {
    const to = source.service === "" ? "" : `, Service ${source.service}:${source.port}`;
    lines.push(`        # Ingress ${source.namespace}/${source.ingress}, path ${source.path}${to}`);
  }
  if (fixed !== undefined) lines.push("slash" in fixed ? `        return 301 ${quoted(fixed.slash)};` : `        return ${fixed.status};`);
  if (route.backend !== undefined) lines.push(`        set $proxy_upstream_name ${quoted(route.backend)};`);
  lines.push(...profileLines(route.profile, conf));
  for (const [feature, value] of Object.entries(route.features).sort(([a], [b]) => (a < b ? -1 : 1))) {
    lines.push(...settingLines(feature, value, "        "));
  }
  return [...lines, "    }"];
}

function profileLines(profile: string | undefined, conf: string): string[] {
  if (profile === undefined) return ["        # profile: default"];
  const block = blockOf(conf, `location = /~${profile} {`);
  const directives = block.filter((line) => !/^(rewrite_by_lua|set_by_lua|access_by_lua|internal;|#)/.test(line));
  return [`        # profile: ${profile}`, ...directives.map((line) => `        ${line}`)];
}

/** The lines between the braces, without their indentation. */
function blockOf(conf: string, head: string): string[] {
  const lines = conf.split("\n").map((line) => line.trim());
  const start = lines.indexOf(head);
  if (start < 0) return [];
  const found: string[] = [];
  let depth = 1;
  for (const line of lines.slice(start + 1)) {
    if (line.endsWith("{")) depth += 1;
    if (line === "}") depth -= 1;
    if (depth === 0) break;
    if (line !== "") found.push(line);
  }
  return found;
}

function settingLines(name: string, value: unknown, indent: string): string[] {
  return [`${indent}# ${name}: ${JSON.stringify(value)}`];
}

function quoted(text: string): string {
  return `"${text.replaceAll(/[\\"]/g, "\\$&")}"`;
}
