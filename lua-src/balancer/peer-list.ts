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

/** By place. */
function peerKeys(peers: Peers): LuaTable<number, string> {
  const keys = new LuaTable<number, string>();
  for (const i of $range(1, peers.count)) {
    keys.set(i, peerKey(peers, i));
  }
  return keys;
}

/** Same peers at the same places. */
function samePeers(a: Peers, b: Peers): boolean {
  if (a.count !== b.count) {
    return false;
  }
  for (const i of $range(1, a.count)) {
    if (a.addresses.get(i) !== b.addresses.get(i) || a.ports.get(i) !== b.ports.get(i)) {
      return false;
    }
  }
  return true;
}

const nobody: Peers = { count: 0, addresses: new LuaTable(), ports: new LuaTable() };

export { nobody, peerKey, peerKeys, samePeers };
