/** upstream-hash-by-subset: a key belongs to a fixed group of peers, and any of the group may serve it. */
import type { RequestState } from "../features/feature";
import type { BackendDocument } from "../wire";
import { type HashKey, hashKeyOf, parseHashKey } from "./chash";
import { nobody, type Peers, peerKey, samePeers } from "./peer-list";
import { onePlace } from "./random";
import { Ring } from "./ring";

const defaultSize = 3;

/** Places of the peers of each group; the last group is filled up from the first peers. */
function subsetsOf(count: number, size: number): LuaTable<number, LuaTable<number, number>> {
  const subsets = new LuaTable<number, LuaTable<number, number>>();
  for (const subset of $range(1, math.ceil(count / size))) {
    const places = new LuaTable<number, number>();
    for (const i of $range(1, size)) {
      places.set(i, (((subset - 1) * size + i - 1) % count) + 1);
    }
    subsets.set(subset, places);
  }
  return subsets;
}

function membersOf(peers: Peers, places: LuaTable<number, number>, size: number): Peers {
  const [addresses, ports] = [new LuaTable<number, string>(), new LuaTable<number, number>()];
  for (const i of $range(1, size)) {
    addresses.set(i, peers.addresses.get(places.get(i)!)!);
    ports.set(i, peers.ports.get(places.get(i)!)!);
  }
  return { count: size, addresses, ports };
}

function hasUntried(peers: Peers, tried: LuaTable<string, true>): boolean {
  for (const i of $range(1, peers.count)) {
    if (tried.get(peerKey(peers, i)) === undefined) {
      return true;
    }
  }
  return false;
}

function subsetIds(count: number): LuaTable<number, string> {
  const ids = new LuaTable<number, string>();
  for (const i of $range(1, count)) {
    ids.set(i, `set${i}`);
  }
  return ids;
}

export class ChashSubset {
  private peers = nobody;
  private size = 0;
  private text = "";
  private key: HashKey | undefined;
  private ring: Ring | undefined;
  private places = new LuaTable<number, LuaTable<number, number>>();
  private members = new LuaTable<number, Peers>();

  algorithm(): string {
    return "chashsubset";
  }

  update(peers: Peers, document: BackendDocument): void {
    const config = document.upstreamHashByConfig;
    const text = config["upstream-hash-by"]!;
    if (text !== this.text) {
      this.text = text;
      this.key = parseHashKey(text);
    }
    const wanted = config["upstream-hash-by-subset-size"] ?? 0;
    const size = wanted > 0 ? wanted : defaultSize;
    if (size !== this.size || !samePeers(peers, this.peers)) {
      this.size = size;
      this.peers = peers;
      this.ring = undefined;
    }
  }

  pick(peers: Peers, request: RequestState): number {
    const ring = this.ring ?? this.makeRing(peers);
    const point = ring.pointOf(hashKeyOf(this.key!, request));
    const subset = request.tried === undefined ? ring.ownerOf(point) : this.untried(ring, point, request.tried);
    const member = onePlace(this.members.get(subset)!, request);
    return this.places.get(subset)!.get(member)!;
  }

  /** Clockwise from the point, the first group with a peer that the request has not asked; else the key's own. */
  private untried(ring: Ring, point: number, tried: LuaTable<string, true>): number {
    const found = ring.first(point, (subset) => hasUntried(this.members.get(subset)!, tried));
    return found === 0 ? ring.ownerOf(point) : found;
  }

  private makeRing(peers: Peers): Ring {
    const count = math.ceil(peers.count / this.size);
    // a subset larger than the backend holds some peers twice, as it always did
    this.places = subsetsOf(peers.count, this.size);
    this.members = new LuaTable();
    for (const i of $range(1, count)) {
      this.members.set(i, membersOf(peers, this.places.get(i)!, this.size));
    }
    const ring = new Ring(subsetIds(count), count);
    this.ring = ring;
    return ring;
  }
}

export { subsetsOf };
