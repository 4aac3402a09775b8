/**
 * dbg: what the running data plane has and does. backends, certs, general and conf print what they printed in the retired
 * controller, problems included: on stdout, with exit code 0. The commands of our own exit with 1 when they fail.
 */

import { promises as fs } from "node:fs";
import { type BackendDocument, type HostDocument, type MatchDocument, paths } from "../../lua-src/wire.ts";
import type { ReportedFinding } from "../report/board.ts";
import { type DbgArguments, parseDbg } from "./dbg-arguments.ts";
import { connectDbg, type DbgClient, type Reply } from "./dbg-client.ts";
import { hostConf } from "./dbg-conf.ts";
import { matchQuery, matchText } from "./dbg-match.ts";
import { findingsText, routesText } from "./dbg-text.ts";

interface Command {
  /** Words before the arguments. */
  readonly path: readonly string[];
  /** Least and most number of arguments. */
  readonly count: readonly [number, number];
  readonly usage: string;
  readonly doc: string;
  /** Our own: failures exit with 1. */
  readonly own: boolean;
  /** The text to print. Rejects with what is wrong. */
  readonly run: (client: DbgClient, words: readonly string[], flags: DbgArguments) => Promise<string>;
}

const old = { own: false } as const;
const own = { own: true } as const;

const commands: readonly Command[] = [
  { ...old, path: ["backends", "all"], count: [0, 0], usage: "", doc: "All backends as JSON", run: backendsAll },
  { ...old, path: ["backends", "list"], count: [0, 0], usage: "", doc: "Names of all backends", run: backendsList },
  { ...old, path: ["backends", "get"], count: [1, 1], usage: "NAME", doc: "One backend as JSON", run: backendsGet },
  { ...old, path: ["certs", "get"], count: [1, 1], usage: "HOST", doc: "Certificate and key of a host", run: certsGet },
  { ...old, path: ["general"], count: [0, 0], usage: "", doc: "Settings of the whole server as JSON", run: general },
  {
    ...old,
    path: ["conf"],
    count: [0, 0],
    usage: "[--host=HOST]",
    doc: "The nginx.conf that is served; of a host, what it amounts to",
    run: conf,
  },
  { ...own, path: ["routes"], count: [0, 1], usage: "[HOST]", doc: "Hosts and their routes", run: routes },
  {
    ...own,
    path: ["match"],
    count: [1, 1],
    usage: "URL [--method M] [--header name:value]…",
    doc: "Which route and backend answer a URL, and why",
    run: match,
  },
  { ...own, path: ["findings"], count: [0, 0], usage: "", doc: "What is wrong with the objects that are read", run: findings },
  { ...own, path: ["state"], count: [0, 0], usage: "", doc: "Versions, counts and free memory as JSON", run: state },
];

/** Resolves with the exit code. */
export async function runDbg(argv: readonly string[], print: (text: string) => void): Promise<number> {
  const parsed = parseDbg(argv);
  if ("error" in parsed) return wrong(parsed.error, print);
  const { words, help } = parsed.ok;
  if (help || words.length === 0 || words[0] === "help") {
    print(usage());
    return 0;
  }
  const command = commands.find(({ path }) => path.every((word, index) => words[index] === word));
  if (command === undefined) return wrong(`unknown command "${words.join(" ")}" for "dbg"`, print);
  const rest = words.slice(command.path.length);
  const [least, most] = command.count;
  if (rest.length < least || rest.length > most) {
    const wanted = least === most ? String(least) : `${least} to ${most}`;
    return wrong(`${command.path.join(" ")}: accepts ${wanted} argument(s), received ${rest.length}`, print);
  }
  try {
    print(await command.run(connectDbg(parsed.ok), rest, parsed.ok));
    return 0;
  } catch (error) {
    print(`${(error as Error).message}\n`);
    return command.own ? 1 : 0;
  }
}

function wrong(message: string, print: (text: string) => void): number {
  print(`Error: ${message}\n${usage()}`);
  return 1;
}

function usage(): string {
  const left = commands.map(({ path, usage: words }) => `${path.join(" ")} ${words}`.trim());
  const width = Math.max(...left.map((text) => text.length));
  const lines = commands.map(({ doc }, index) => `  dbg ${left[index]!.padEnd(width)}  ${doc}`);
  return `Usage:\n${lines.join("\n")}\n\nFlags: --runtime-dir, --healthz-port (as the controller's), --status-port (without effect)\n`;
}

async function backends(client: DbgClient): Promise<BackendDocument[]> {
  return JSON.parse(bodyOf(await client.dataPlane(paths.backends))) as BackendDocument[];
}

async function backendsAll(client: DbgClient): Promise<string> {
  return json(await backends(client));
}

async function backendsList(client: DbgClient): Promise<string> {
  return (await backends(client)).map(({ name }) => `${name}\n`).join("");
}

async function backendsGet(client: DbgClient, [name]: readonly string[]): Promise<string> {
  const backend = (await backends(client)).find((candidate) => candidate.name === name);
  return backend === undefined ? "A backend of this name was not found.\n" : json(sorted(backend));
}

async function certsGet(client: DbgClient, [host]: readonly string[]): Promise<string> {
  const reply = await client.dataPlane(paths.certs, [["hostname", host!]]);
  if (reply.status === 200) return reply.body;
  if (reply.status === 404) return `No cert found for host ${host}\n`;
  return `Nginx returned code ${reply.status}\n${reply.body}\n`;
}

async function general(client: DbgClient): Promise<string> {
  return json(JSON.parse(bodyOf(await client.dataPlane(paths.general))));
}

async function conf(client: DbgClient, _words: readonly string[], { host }: DbgArguments): Promise<string> {
  const text = await fs.readFile(client.confFile, "utf8");
  if (host === undefined) return `${text}\n`;
  const hosts = JSON.parse(bodyOf(await client.dataPlane(paths.routes))) as HostDocument[];
  return hostConf(hostNamed(hosts, host), text);
}

async function routes(client: DbgClient, [host]: readonly string[]): Promise<string> {
  const hosts = JSON.parse(bodyOf(await client.dataPlane(paths.routes))) as HostDocument[];
  if (host === undefined) return routesText(hosts);
  return routesText([hostNamed(hosts, host)]);
}

function hostNamed(hosts: readonly HostDocument[], host: string): HostDocument {
  const name = host === "_" || host === "(any)" ? "" : host.toLowerCase();
  const found = hosts.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`No host of the name ${host} is served; dbg match says what answers a URL.`);
  return found;
}

async function match(client: DbgClient, [url]: readonly string[], flags: DbgArguments): Promise<string> {
  const query = matchQuery({ url: url!, method: flags.method, headers: flags.headers });
  if ("error" in query) throw new Error(query.error);
  return matchText(url!, JSON.parse(bodyOf(await client.dataPlane(paths.match, query.ok))) as MatchDocument);
}

async function findings(client: DbgClient): Promise<string> {
  return findingsText(JSON.parse(bodyOf(await client.controller("/findings"), "The controller")) as ReportedFinding[]);
}

/** Each half is worth having while the other one is down. */
async function state(client: DbgClient): Promise<string> {
  const [dataPlane, controller] = await Promise.allSettled([client.dataPlane(paths.state), client.controller("/state")]);
  if (dataPlane.status === "rejected" && controller.status === "rejected") throw dataPlane.reason;
  return json({ dataPlane: half(dataPlane, "Nginx"), controller: half(controller, "The controller") });
}

function half(result: PromiseSettledResult<Reply>, who: string): unknown {
  if (result.status === "rejected") return { error: (result.reason as Error).message };
  try {
    return JSON.parse(bodyOf(result.value, who));
  } catch (error) {
    return { error: (error as Error).message };
  }
}

function bodyOf(reply: Reply, who = "Nginx"): string {
  if (reply.status !== 200) throw new Error(`${who} returned code ${reply.status}`);
  return reply.body;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** Keys in alphabetical order at every depth. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
