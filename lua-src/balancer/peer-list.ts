/** The peers of a backend, as the balancers see them. */

/** Addresses in the order of the document; place i of each list is one peer, counted from 1. */
export interface Peers {
  readonly count: number;
  /** As set_current_peer takes them. */
  readonly addresses: LuaTable<number, string>;
  readonly ports: LuaTable<number, number>;
}

/** "address:port", what tries, sticky sessions and statistics are keyed by. */
function peerKey(peers: Peers, place: number): string {
  return `${peers.addresses.get(place)}:${peers.ports.get(place)}`;
}

export { peerKey };
