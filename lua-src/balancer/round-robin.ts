/** One peer after the other, per worker, from a random start. */
import type { RequestState } from "../features/feature";
import type { Peers } from "./peers";

export class RoundRobin {
  readonly algorithm = "round_robin";
  private place = -1;

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
      place = this.untried(peers, request, place);
    }
    this.place = place;
    return place;
  }

  /** From `place` on, the first that this request has not tried; `place` when it tried all. */
  private untried(peers: Peers, request: RequestState, place: number): number {
    const tried = request.tried!;
    let candidate = place;
    for (const _ of $range(1, peers.count)) {
      if (tried.get(peers.keys.get(candidate)!) === undefined) {
        return candidate;
      }
      candidate = candidate >= peers.count ? 1 : candidate + 1;
    }
    return place;
  }
}
