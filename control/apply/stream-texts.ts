/** Stream snippets that listen on a port which something else holds: nginx's test would not tell, and its reload would fail after seconds. */

import { statementsOf } from "../catalog/nginx-text.ts";
import type { StreamServer } from "../model/stream.ts";
import { isTaken } from "./stream-ports.ts";
import type { Running } from "./tester.ts";

interface Listen extends Pick<StreamServer, "protocol" | "port"> {
  /** Without brackets; undefined: all IPv4 addresses. */
  readonly host: string | undefined;
}

/** Ports of the text's servers; not unix sockets, host names, ranges and what several processes may share. */
export function listensIn(text: string): Listen[] {
  const servers = statementsOf(text).filter((s) => s.words[0] === "server" && s.block !== undefined);
  return servers.flatMap((server) => (server.block ?? []).flatMap(({ words }) => (words[0] === "listen" ? listenOf(words.slice(1)) : [])));
}

function listenOf([address = "", ...flags]: readonly string[]): Listen[] {
  const m = /^(?:(\*|[\d.]+|\[[\da-fA-F:.]+\]):)?(\d{1,5})$/.exec(address);
  if (m === null || flags.includes("reuseport")) return [];
  const host = m[1] === undefined || m[1] === "*" ? undefined : m[1].replace(/^\[|\]$/g, "");
  return [{ protocol: flags.includes("udp") ? "UDP" : "TCP", port: Number(m[2]), host }];
}

type Port = Pick<StreamServer, "protocol" | "port">;

interface Taken {
  /** Reason by key of a text of the Ingresses. */
  readonly taken: ReadonlyMap<string, string>;
  /** Reason why the ConfigMap's text cannot be had. */
  readonly snippet: string | undefined;
}

/** `now`: what runs, with whose ports all is well. */
export async function takenTexts(texts: ReadonlyMap<string, string>, snippet: string, now: Running | undefined): Promise<Taken> {
  const running = now?.basis.settings["stream-snippet"] ?? "";
  const held = [...(now?.basis.streams.servers ?? []), ...[...(now?.parts.streams.values() ?? []), running].flatMap(listensIn)];
  const taken = new Map<string, string>();
  for (const [key, text] of texts) {
    const reason = await takenPort(text, held);
    if (reason !== undefined) taken.set(key, reason);
  }
  return { taken, snippet: await takenPort(snippet, held) };
}

/** A sentence about the first port that somebody else holds. `held`: what our own nginx listens on. */
async function takenPort(text: string, held: readonly Port[]): Promise<string | undefined> {
  for (const listen of listensIn(text)) {
    if (held.some((h) => h.protocol === listen.protocol && h.port === listen.port)) continue;
    if (await isTaken(listen, listen.host)) return `${listen.protocol} port ${listen.port} is in use`;
  }
  return undefined;
}
