/** Server blocks: the one that serves all hosts, and those of hosts with a server-snippet. */

import { namedLocations, type Statement, statementsOf } from "../catalog/nginx-text.ts";
import type { ConfView, ServerBlock } from "../plan/conf-view.ts";
import { type Printed, printDirective, quoteArgument } from "../plan/directive.ts";
import { listenLines } from "./listen-lines.ts";
import { answersFirst, headersBeside, namesRouteVariables, responseHeadersBeside, splitFirst, statementsIn } from "./snippet-lines.ts";

interface ServerView {
  readonly names: Printed;
  readonly listens: readonly { readonly line: Printed }[];
  readonly server: readonly { readonly line: Printed }[];
  /** What runs before a request is routed. */
  readonly first: { readonly lines: readonly { readonly line: Printed }[] } | null;
  /** Place in serverSettings, from 1; empty where Lua need not know the block. */
  readonly place: Printed;
}

export function serverViews(view: ConfView): readonly ServerView[] {
  const all: readonly (ServerBlock | undefined)[] = [undefined, ...view.servers];
  const settings = serverSettings(view);
  return all.map((block, index) => {
    const snippets = [...(block === undefined ? [] : [{ snippet: block.snippet }]), ...view.snippets.server];
    const statements = statementsIn(snippets);
    const first = answersFirst(statements);
    const body = [
      ...view.server.map(printDirective),
      ...headersBeside(view, ["http", "grpc"], [], statements),
      ...responseHeadersBeside(view, statements),
      ...snippets.map(({ snippet }) => splitFirst(snippet, first).rest),
    ];
    return {
      names: { printed: block === undefined ? "_" : block.names.map(quoteArgument).join(" ") },
      listens: view.listens
        .flatMap((listen) => listenLines(listen, view, block === undefined))
        .map((line) => ({ line: { printed: line } })),
      server: body.map((line) => ({ line: { printed: line } })),
      first: first ? { lines: snippets.map(({ snippet }) => ({ line: { printed: splitFirst(snippet, first).first } })) } : null,
      place: { printed: Object.keys(settings[index] ?? {}).length === 0 ? "" : String(index + 1) },
    };
  });
}

interface OwnLocation {
  readonly kind: "exact" | "prefix" | "stop" | "regex" | "iregex";
  readonly path: string;
  /** Not for clients. */
  readonly internal?: true;
}

const kinds: Readonly<Record<string, OwnLocation["kind"]>> = { "=": "exact", "^~": "stop", "~": "regex", "~*": "iregex" };

/** What lua-src must know of each block: locations that the snippets define, which nginx picks by the request's own URI. */
export function serverSettings(view: ConfView): {
  readonly locations?: readonly OwnLocation[];
  readonly named?: Readonly<Record<string, true>>;
  readonly first?: true;
  readonly variables?: true;
}[] {
  const shared = view.snippets.server.map((s) => s.snippet);
  return [[], ...view.servers.map((s) => [s.snippet])].map((own) => {
    const texts = [...own, ...shared];
    const locations = texts.flatMap(statementsOf).flatMap(ownLocation);
    const named = texts.flatMap(namedLocations);
    return {
      ...(locations.length === 0 ? {} : { locations }),
      ...(named.length === 0 ? {} : { named: Object.fromEntries(named.map((name) => [name, true as const])) }),
      ...(answersFirst(texts.flatMap(statementsOf)) ? { first: true as const } : {}),
      ...(namesRouteVariables(texts) ? { variables: true as const } : {}),
    };
  });
}

function ownLocation({ words, block }: Statement): OwnLocation[] {
  const [name, first = "", second] = words;
  if (name !== "location" || first.startsWith("@")) return [];
  const closed = block?.some((s) => s.words[0] === "internal") ? { internal: true as const } : {};
  if (second !== undefined) return kinds[first] === undefined ? [] : [{ kind: kinds[first], path: second, ...closed }];
  // nginx takes the modifier without a space too
  const m = /^(=|\^~|~\*|~)(.+)$/s.exec(first);
  const found: OwnLocation =
    m === null ? { kind: "prefix", path: first } : { kind: kinds[m[1] as string] as OwnLocation["kind"], path: m[2] as string };
  return [{ ...found, ...closed }];
}
