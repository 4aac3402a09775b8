/** Backends as a worker knows them. A Backend outlives changes of its document, and with it the balancer's state. */
import { contains, parseAddress, parseNetwork } from "../base/address";
import { logWarning } from "../base/log";
import { settings } from "../configuration/settings";
import { readEntry } from "../configuration/store";
import type { BackendDocument } from "../wire";
import { type Alternatives, alternativesOf, type Shaping, shapingOf } from "./canary";
import { type Balancer, balancerFor } from "./pick";

/** Addresses in the order of the document; place i of each list is one peer, counted from 1. */
export interface Peers {
  readonly count: number;
  /** As set_current_peer takes them. */
  readonly addresses: LuaTable<number, string>;
  readonly ports: LuaTable<number, number>;
  /** "address:port", what sticky sessions and statistics are keyed by. */
  readonly keys: LuaTable<number, string>;
}

export interface Backend {
  readonly name: string;
  /** False: read the document again before use (refreshBackend). */
  fresh: boolean;
  exists: boolean;
  builtIn404: boolean;
  peers: Peers;
  balancer: Balancer;
  /** Canaries, undefined in the ordinary case. */
  alternatives: Alternatives | undefined;
  /** When it is a canary itself: its rules. */
  shaping: Shaping | undefined;
}

const loopback = parseNetwork("127.0.0.0/8")!;
const nobody: Peers = { count: 0, addresses: new LuaTable(), ports: new LuaTable(), keys: new LuaTable() };

/** Weak: routes and canary lists hold the backends that are in use. */
const registry = new LuaTable<string, Backend>();
setmetatable(registry, { __mode: "v" } as unknown as LuaMetatable<LuaTable<string, Backend>>);

/** The status port answers on loopback and is no business of a user's backend. */
function isOwnPort(bytes: string, port: string): boolean {
  return port === settings.statusPort && contains(loopback, bytes);
}

function readPeers(document: BackendDocument): Peers {
  const [addresses, ports, keys] = [new LuaTable<number, string>(), new LuaTable<number, number>(), new LuaTable<number, string>()];
  let count = 0;
  for (const { address, port } of document.endpoints ?? []) {
    const bytes = parseAddress(address);
    const portNumber = tonumber(port);
    if (bytes === undefined || portNumber === undefined || isOwnPort(bytes, port)) {
      logWarning("endpoint refused", `${document.name}: ${address} port ${port}`);
      continue;
    }
    count += 1;
    const bracketed = bytes.length === 16 ? `[${address}]` : address;
    addresses.set(count, bracketed);
    ports.set(count, portNumber);
    keys.set(count, `${bracketed}:${port}`);
  }
  return { count, addresses, ports, keys };
}

/** The one object for this name; not read before it is used. */
function backendNamed(name: string): Backend {
  let backend: Backend | undefined = registry.get(name);
  if (backend === undefined) {
    backend = {
      name,
      fresh: false,
      exists: false,
      builtIn404: false,
      peers: nobody,
      balancer: balancerFor(undefined, undefined),
      alternatives: undefined,
      shaping: undefined,
    };
    registry.set(name, backend);
  }
  return backend;
}

function readBackend(backend: Backend): void {
  const document = readEntry("backends", backend.name) as BackendDocument | undefined;
  backend.exists = document !== undefined;
  backend.peers = document === undefined ? nobody : readPeers(document);
  backend.builtIn404 = document?.builtIn404 === true;
  backend.alternatives = document === undefined ? undefined : alternativesOf(document, backend.alternatives, backendNamed);
  backend.shaping = document === undefined ? undefined : shapingOf(document);
  if (document !== undefined) {
    backend.balancer = balancerFor(document, backend.balancer);
    backend.balancer.update(backend.peers);
  }
}

/** Reads the document; a broken one leaves the backend without peers and is logged. */
function refreshBackend(backend: Backend): void {
  backend.fresh = true;
  const [ok, problem] = pcall(readBackend, backend);
  if (!ok) {
    backend.exists = false;
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
