/** The balancing algorithms by name; each is a class in a file of its own. */
import type { RequestState } from "../features/feature";
import type { BackendDocument } from "../wire";
import { Chash } from "./chash";
import { ChashSubset } from "./chash-subset";
import { Ewma } from "./ewma";
import { LeastConnections } from "./least-connections";
import type { Peers } from "./peer-list";
import { RoundRobin } from "./round-robin";
import { SlowStart } from "./slow-start";
import { StickyBalanced } from "./sticky-balanced";
import { StickyPersistent } from "./sticky-persistent";

export interface Balancer {
  /** "round_robin", …: a document that names another one gets a new balancer. */
  algorithm(): string;
  /** New peers or settings; whatever still fits of the state is kept. */
  update(peers: Peers, document: BackendDocument): void;
  /** Place of the peer to try, from 1; peers has at least one. */
  pick(peers: Peers, request: RequestState): number;
  /** The peer picked last did not answer, another one is about to be picked. */
  failed?(request: RequestState): void;
}

const slow = "slow ";

/** Those that have a choice may be slow to use a new peer. */
function choosingAlgorithm({ "load-balance": named, slowStart }: BackendDocument): string {
  const algorithm = named === "ewma" || named === "least_conn" || named === "p2c" ? named : "round_robin";
  return slowStart === undefined ? algorithm : slow + algorithm;
}

/** Affinity comes before hashing, hashing before the named algorithm; what is unknown or lacks its key is round robin. */
function algorithmOf(document: BackendDocument): string {
  const { sessionAffinityConfig: affinity, upstreamHashByConfig: hash } = document;
  if (affinity.name === "cookie") {
    return affinity.mode === "persistent" ? "sticky_persistent" : "sticky_balanced";
  }
  const key = hash["upstream-hash-by"];
  if (key !== undefined && key !== "") {
    return hash["upstream-hash-by-subset"] === true ? "chashsubset" : "chash";
  }
  return choosingAlgorithm(document);
}

function create(algorithm: string): Balancer {
  if (string.sub(algorithm, 1, slow.length) === slow) {
    return new SlowStart(create(string.sub(algorithm, slow.length + 1)));
  }
  if (algorithm === "sticky_balanced") {
    return new StickyBalanced();
  }
  if (algorithm === "sticky_persistent") {
    return new StickyPersistent();
  }
  if (algorithm === "chash") {
    return new Chash();
  }
  if (algorithm === "chashsubset") {
    return new ChashSubset();
  }
  if (algorithm === "ewma") {
    return new Ewma();
  }
  return algorithm === "least_conn" || algorithm === "p2c" ? new LeastConnections(algorithm) : new RoundRobin();
}

/** The balancer for the document; `current` when it may stay. */
function balancerFor(document: BackendDocument | undefined, current: Balancer | undefined): Balancer {
  const algorithm = document === undefined ? "round_robin" : algorithmOf(document);
  return current !== undefined && current.algorithm() === algorithm ? current : create(algorithm);
}

export { algorithmOf, balancerFor };
