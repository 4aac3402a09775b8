/** The balancing algorithms by name; each is a class in a file of its own. */
import type { RequestState } from "../features/feature";
import type { BackendDocument } from "../wire";
import type { Peers } from "./peer-list";
import { RoundRobin } from "./round-robin";

export interface Balancer {
  /** "round_robin", …: a document that names another one gets a new balancer. */
  algorithm(): string;
  /** New peers; whatever still fits of the state is kept. */
  update(peers: Peers): void;
  /** Place of the peer to try, from 1; peers has at least one. */
  pick(peers: Peers, request: RequestState): number;
}

function algorithmOf(_document: BackendDocument | undefined): string {
  return "round_robin";
}

/** The balancer for the document; `current` when it may stay. */
function balancerFor(document: BackendDocument | undefined, current: Balancer | undefined): Balancer {
  const algorithm = algorithmOf(document);
  return current !== undefined && current.algorithm() === algorithm ? current : new RoundRobin();
}

export { balancerFor };
