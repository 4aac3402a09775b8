/**
 * What a snippet makes nginx forget or need: one proxy_set_header or add_header of its own, and a block drops all those that
 * it inherits, so they are repeated beside it.
 */

import { allStatements, type Statement, statementsOf } from "../catalog/nginx-text.ts";
import type { ConfView, Family, Profile, RequestHeader, Snippet } from "../plan/conf-view.ts";
import { printDirective } from "../plan/directive.ts";
import { coreRequestHeaders, mergeHeaders } from "./request-headers.ts";
import { responseHeaderLines } from "./response-headers.ts";

export function snippetLines(snippets: readonly Snippet[]): string[] {
  return snippets.map(({ snippet }) => snippet);
}

export function statementsIn(snippets: readonly Snippet[]): Statement[] {
  return snippets.flatMap(({ snippet }) => statementsOf(snippet));
}

/** Names, in lower case, that the statements set with that directive. */
function namesSet(directive: string, statements: readonly Statement[]): Set<string> {
  return new Set(statements.filter((s) => s.words[0] === directive).map((s) => (s.words[1] ?? "").toLowerCase()));
}

export function requestHeaderLines(headers: readonly RequestHeader[], kind: "http" | "grpc"): string[] {
  const name = kind === "http" ? "proxy_set_header" : "grpc_set_header";
  return headers.map((header) => printDirective({ name, args: [header.name, header.value] }));
}

/** Request headers for a block with these statements and headers of its own; nothing where it inherits them all. */
export function headersBeside(
  view: ConfView,
  families: readonly Family[],
  own: readonly RequestHeader[],
  statements: readonly Statement[],
): string[] {
  const all = mergeHeaders(mergeHeaders(coreRequestHeaders(view), view.requestHeaders), own);
  const kinds = new Set(families.map((family): "http" | "grpc" => (family === "grpc" || family === "grpcs" ? "grpc" : "http")));
  return [...kinds].flatMap((kind) => {
    const set = namesSet(kind === "grpc" ? "grpc_set_header" : "proxy_set_header", statements);
    if (own.length === 0 && set.size === 0) return [];
    return requestHeaderLines(
      all.filter((header) => !set.has(header.name.toLowerCase())),
      kind,
    );
  });
}

export function responseHeadersBeside(view: ConfView, statements: readonly Statement[]): string[] {
  const own = (name: string) => statements.some((s) => s.words[0] === name);
  return responseHeaderLines(view).filter((line) => own(line.split(" ", 1)[0] ?? ""));
}

const rewriting = new Set(["rewrite", "if", "return", "set", "break"]);

/** Something there acts in nginx's rewrite phase, so it must meet the request's real URI. */
export function actsOnUri(statements: readonly Statement[]): boolean {
  return statements.some((s) => rewriting.has(s.words[0] ?? ""));
}

/** Something there may answer or rewrite, so it must run before the request is routed; nginx would run it after. */
export function answersFirst(statements: readonly Statement[]): boolean {
  return statements.some((s) => rewriting.has(s.words[0] ?? "") && s.words[0] !== "set");
}

/** A server's text in two: what acts in nginx's rewrite phase, for a location that is run first, and the rest. */
export function splitFirst(snippet: string, wanted: boolean): { readonly first: string; readonly rest: string } {
  if (!wanted) return { first: "", rest: snippet };
  const text = edited(snippet, allStatements(statementsOf(snippet)).filter(searchesAgain), ({ words }) =>
    printDirective({ name: "rewrite", args: [words[1] ?? "", words[2] ?? "", "break"] }),
  );
  const moved = statementsOf(text).filter((s) => rewriting.has(s.words[0] ?? ""));
  return { first: moved.map((s) => text.slice(s.from, s.to)).join("\n"), rest: edited(text, moved, () => "") };
}

/** The text with something else in place of these statements. */
export function edited(text: string, statements: readonly Statement[], instead: (statement: Statement) => string): string {
  let out = text;
  for (const s of [...statements].sort((a, b) => b.from - a.from)) out = out.slice(0, s.from) + instead(s) + out.slice(s.to);
  return out;
}

const routeVariables = /\$\{?(?:namespace|ingress_name|service_name|service_port|location_path|proxy_upstream_name|subdomain)\b/;

export function namesRouteVariables(texts: readonly string[]): boolean {
  return texts.some((text) => routeVariables.test(text));
}

/** What lua-src/configuration/settings.ts calls ProfileSettings, as far as snippets decide it. */
export function profileSnippets(profile: Profile, view: ConfView): object {
  const own = profile.snippets ?? [];
  const statements = allStatements(statementsIn([...own, ...view.snippets.location]));
  const texts = [...own.map((s) => s.snippet), ...(profile.fastcgiParams ?? []).map((p) => String(p.value)), ...argumentTexts(profile)];
  return {
    ...(own.length > 0 || actsOnUri(statements) ? { uriFirst: true } : {}),
    ...(namesRouteVariables(texts) ? { variables: true } : {}),
  };
}

function argumentTexts(profile: Profile): string[] {
  return profile.directives.flatMap((d) => d.args).flatMap((a) => (typeof a === "string" ? [a] : []));
}

/** Before a URI whose location is to be looked for anew; lua-src/phases/rewrite.ts takes it off. */
const searchMark = "/~search";

/**
 * The text for a location of a profile: nginx looks for another location after a plain `rewrite`, and would find none that
 * is routed. So it stops there, with a mark for the hook.
 */
export function markedText({ snippet }: Snippet): string {
  const searching = allStatements(statementsOf(snippet)).filter(searchesAgain);
  return edited(snippet, searching, ({ words }) =>
    printDirective({ name: "rewrite", args: [words[1] ?? "", `${searchMark}${words[2] ?? ""}`, "break"] }),
  );
}

/** A rewrite after which nginx looks for the location anew; one to a full URL is a redirect. */
function searchesAgain({ words }: Statement): boolean {
  if (words[0] !== "rewrite" || words.length < 3 || ["break", "redirect", "permanent"].includes(words[3] ?? "")) return false;
  return !/^(https?:\/\/|\$scheme)/.test(words[2] ?? "");
}

/** Statements at the snippets' own level that nginx obeys before it runs them. */
export function earlyLines(snippets: readonly Snippet[]): string[] {
  return snippets.flatMap(({ snippet }) =>
    statementsOf(snippet).flatMap((s) => (s.words[0] === "client_max_body_size" ? [snippet.slice(s.from, s.to)] : [])),
  );
}
