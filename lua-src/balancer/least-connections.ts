/**
 * least_conn: the peer with the fewest requests of this worker in progress; p2c: the better of two random ones. The
 * counts need to see requests end, so only routes that measure (features/measure.ts) are counted.
 */
import { type Holder, hold } from "../base/holds";
import type { RequestState } from "../features/feature";
import { nobody, type Peers, peerKeys, samePeers } from "./peer-list";
import { bestPlaces, isChoosy, twoPlaces } from "./random";

export class LeastConnections implements Holder {
  private readonly name: string;
  private peers = nobody;
  private keys = new LuaTable<number, string>();
  /** Requests in progress by key. */
  private readonly open = new LuaTable<string, number>();

  constructor(name: string) {
    this.name = name;
  }

  algorithm(): string {
    return this.name;
  }

  update(peers: Peers): void {
    if (!samePeers(peers, this.peers)) {
      this.peers = peers;
      this.keys = peerKeys(peers);
    }
  }

  pick(peers: Peers, request: RequestState): number {
    const place = this.name === "p2c" ? this.betterOfTwo(peers, request) : this.least(peers, request);
    if (request.route.more?.measures === true) {
      this.count(request, this.keys.get(place)!);
    }
    return place;
  }

  giveBack(key: string): void {
    const left = (this.open.get(key) ?? 0) - 1;
    if (left > 0) {
      this.open.set(key, left);
    } else {
      this.open.delete(key);
    }
  }

  private count(request: RequestState, key: string): void {
    const held = request.held;
    if (held === undefined || held.holder !== this) {
      // where the algorithm changed between two tries the former one gets back what is its own
      request.held = hold(this, key, false);
    } else {
      // another try: the former peer is done with it
      this.giveBack(held.key);
      held.key = key;
    }
    this.open.set(key, (this.open.get(key) ?? 0) + 1);
  }

  private load(place: number): number {
    return this.open.get(this.keys.get(place)!) ?? 0;
  }

  private betterOfTwo(peers: Peers, request: RequestState): number {
    const [first, second] = twoPlaces(peers, request);
    return this.load(second) < this.load(first) ? second : first;
  }

  /** From a random start, so that equals take turns. */
  private least(peers: Peers, request: RequestState): number {
    const places = isChoosy(request) ? bestPlaces(peers, request) : undefined;
    const count = places === undefined ? peers.count : places.count;
    const start = math.random(0, count - 1);
    let [best, fewest] = [0, math.huge];
    for (const i of $range(start, start + count - 1)) {
      const index = (i % count) + 1;
      const place = places === undefined ? index : places.list.get(index)!;
      const load = this.load(place);
      if (load < fewest) {
        best = place;
        fewest = load;
      }
    }
    return best;
  }
}
