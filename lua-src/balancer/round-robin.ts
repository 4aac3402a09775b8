/** One peer after the other, per worker, from a random start. */
import type { RequestState } from "../features/feature";
import { type Peers, peerKey } from "./peer-list";

export class RoundRobin {
  private place = -1;

  algorithm(): string {
    return "round_robin";
  }

  update(peers: Peers): void {
    if (this.place < 0 && peers.count > 0) {
      this.place = math.random(0, peers.count - 1);
    }
  }

  pick(peers: Peers, request: RequestState): number {
    const count = peers.count;
    let place = this.place;
    place = place >= count ? 1 : place + 1;
    if (request.tries > 0) {
      place = this.untried(peers, request.tried!, place);
    }
    this.place = place;
    return place;
  }

  /** From `place` on, the first that this request has not tried; `place` when it tried all. */
  private untried(peers: Peers, tried: LuaTable<string, true>, place: number): number {
    let candidate = place;
    for (const _ of $range(1, peers.count)) {
      if (tried.get(peerKey(peers, candidate)) === undefined) {
        return candidate;
      }
      candidate = candidate >= peers.count ? 1 : candidate + 1;
    }
    return place;
  }
}
