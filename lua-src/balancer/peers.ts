/** Backends as a worker knows them. A Backend outlives changes of its document, and with it the balancer's state. */
import { contains, networksOf } from "../access/networks";
import { parseAddress } from "../base/address";
import { logWarning } from "../base/log";
import { settings } from "../configuration/settings";
import { readEntry } from "../configuration/store";
import type { BackendDocument } from "../wire";
import { type Alternatives, alternativesOf, type Shaping, shapingOf } from "./canary";
import { forgiveNew } from "./health";
import { nobody, type Peers } from "./peer-list";
import { type Balancer, balancerFor } from "./pick";
import { type Session, sessionOf } from "./session";

export interface Backend {
  readonly name: string;
  /** False: read the document again before use (refreshBackend). */
  fresh: boolean;
  peers: Peers;
  balancer: Balancer;
  /** Answers 404 by itself. */
  builtIn404?: boolean;
  /** Canaries. */
  alternatives?: Alternatives;
  /** When it is a canary itself: its rules. */
  shaping?: Shaping;
  /** Requests in progress at a time. */
  maxInFlight?: number;
  /** With cookie affinity. */
  session?: Session;
}

const loopback = networksOf(["127.0.0.0/8"]);

/** Weak: routes and canary lists hold the backends that are in use. */
const registry = new LuaTable<string, Backend>();
setmetatable(registry, { __mode: "v" } as unknown as LuaMetatable<LuaTable<string, Backend>>);

/** The status port answers on loopback and is no business of a user's backend. */
function isOwnPort(bytes: string, port: string): boolean {
  return port === settings.statusPort && contains(loopback, bytes);
}

function readPeers(document: BackendDocument): Peers {
  const [addresses, ports] = [new LuaTable<number, string>(), new LuaTable<number, number>()];
  let count = 0;
  for (const { address, port } of document.endpoints ?? []) {
    const bytes = parseAddress(address);
    const portNumber = tonumber(port);
    if (bytes === undefined || portNumber === undefined || isOwnPort(bytes, port)) {
      logWarning("endpoint refused", `${document.name}: ${address} port ${port}`);
      continue;
    }
    count += 1;
    addresses.set(count, bytes.length === 16 ? `[${address}]` : address);
    ports.set(count, portNumber);
  }
  return { count, addresses, ports };
}

/** The one object for this name; not read before it is used. */
function backendNamed(name: string): Backend {
  let backend: Backend | undefined = registry.get(name);
  if (backend === undefined) {
    backend = { name, fresh: false, peers: nobody, balancer: balancerFor(undefined, undefined) } as Backend;
    registry.set(name, backend);
  }
  return backend;
}

function readBackend(backend: Backend): void {
  const document = readEntry("backends", backend.name) as BackendDocument | undefined;
  const peers = document === undefined ? nobody : readPeers(document);
  forgiveNew(backend.peers, peers);
  backend.peers = peers;
  // absent rather than false: the table of a plain backend stays small
  backend.builtIn404 = document?.builtIn404 === true ? true : undefined;
  backend.alternatives = document === undefined ? undefined : alternativesOf(document, backend.alternatives, backendNamed);
  backend.shaping = document === undefined ? undefined : shapingOf(document);
  backend.session = document === undefined ? undefined : sessionOf(document);
  backend.maxInFlight = document?.maxInFlight;
  if (document !== undefined) {
    backend.balancer = balancerFor(document, backend.balancer);
    backend.balancer.update(backend.peers, document);
  }
}

/** Reads the document; a broken one leaves the backend without peers and is logged. */
function refreshBackend(backend: Backend): void {
  backend.fresh = true;
  const [ok, problem] = pcall(readBackend, backend);
  if (!ok) {
    backend.peers = nobody;
    backend.alternatives = undefined;
    logWarning("backend cannot be read", `${backend.name}: ${tostring(problem)}`);
  }
}

function forgetBackends(names: readonly string[]): void {
  for (const name of names) {
    const backend: Backend | undefined = registry.get(name);
    if (backend !== undefined) {
      backend.fresh = false;
    }
  }
}

function forgetAllBackends(): void {
  for (const [, backend] of pairs(registry)) {
    backend.fresh = false;
  }
}

export { backendNamed, forgetAllBackends, forgetBackends, refreshBackend };
