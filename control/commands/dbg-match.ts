/** "Which route answers this URL, and why": the question to the data plane's router, and its answer in words. */

import type { MatchDocument } from "../../lua-src/wire.ts";

export interface MatchQuestion {
  readonly url: string;
  readonly method: string;
  /** Lower-case name and value; host replaces the URL's. */
  readonly headers: readonly (readonly [string, string])[];
}

export type MatchQuery = { readonly ok: readonly (readonly [string, string])[] } | { readonly error: string };

/** Query parameters of paths.match: host, uri (decoded, as the router sees it), raw (as sent), scheme, method, header.NAME. */
export function matchQuery(question: MatchQuestion): MatchQuery {
  const text = /^https?:\/\//i.test(question.url) ? question.url : `http://${question.url}`;
  if (!URL.canParse(text)) return { error: `not a URL: ${question.url}` };
  const url = new URL(text);
  let path: string;
  try {
    path = decodeURIComponent(url.pathname).replaceAll(/\/+/g, "/");
  } catch {
    return { error: `the path has a broken percent escape: ${url.pathname}` };
  }
  const host = question.headers.find(([name]) => name === "host")?.[1] ?? url.host;
  return {
    ok: [
      ["host", hostWithoutPort(host)],
      ["uri", path],
      ["raw", `${url.pathname}${url.search}`],
      ["scheme", url.protocol.slice(0, -1)],
      ["method", question.method],
      ...question.headers.filter(([name]) => name !== "host").map(([name, value]) => [`header.${name}`, value] as const),
    ],
  };
}

export function matchText(url: string, match: MatchDocument): string {
  const lines: string[] = [row("url", url), row("host", hostText(match))];
  const { route } = match;
  if (route !== undefined) {
    const { namespace, ingress, service, port, path } = route.source;
    const origin = ingress === "" ? "" : `, from path ${path === "" ? "/" : path} of Ingress ${namespace}/${ingress}`;
    lines.push(row("route", `${route.kind} ${route.path}${origin}`));
    lines.push(row("profile", route.profile ?? "default"));
    if (service !== "") lines.push(row("service", `${namespace}/${service}:${port}`));
    const features = Object.keys(route.features).sort();
    if (features.length > 0) lines.push(row("features", features.join(", ")));
  }
  if (match.backend !== undefined) lines.push(row("backend", match.backend));
  if (match.canary !== undefined) lines.push(row("canary", match.canary));
  if (match.sharing !== undefined) lines.push(row("canary", `${match.sharing.join(" or ")} may take the request instead`));
  if (match.endpoints !== undefined) {
    const endpoints = match.endpoints.map(({ address, port }) => `${address.includes(":") ? `[${address}]` : address}:${port}`);
    lines.push(row("endpoints", endpoints.length === 0 ? "none" : endpoints.join(", ")));
  }
  lines.push(row("answer", answerText(match)));
  for (const reason of match.reasons) lines.push(row("because", reason));
  return `${lines.join("\n")}\n`;
}

function hostText(match: MatchDocument): string {
  if (match.how === "none" || match.host === undefined) return "none matches";
  const alias = match.aliasOf === undefined ? "" : `, alias of ${match.aliasOf}`;
  return match.host === "" ? `the catch-all${alias}` : `${match.host} (${match.how}${alias})`;
}

function answerText(match: MatchDocument): string {
  if (match.status === undefined) return match.backend === undefined ? "none" : "that of the backend";
  return match.location === undefined ? String(match.status) : `${match.status} to ${match.location}`;
}

function row(name: string, value: string): string {
  return `${name.padEnd(10)} ${value}`;
}

function hostWithoutPort(host: string): string {
  return host.replace(/:\d+$/, "").toLowerCase();
}
