/** One peer after the other, per worker, from a random start. */
import type { RequestState } from "../features/feature";
import { health, heedsHealth, isFailing } from "./health";
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
    if (request.tries > 0 || health.until > 0) {
      place = this.better(peers, request, place);
    }
    this.place = place;
    return place;
  }

  /** From `place` on, the first that is neither tried nor failing; else the first untried; else `place`. */
  private better(peers: Peers, request: RequestState, place: number): number {
    const tried = request.tried;
    const heeds = heedsHealth(request);
    let [candidate, untried] = [place, 0];
    for (const _ of $range(1, peers.count)) {
      if (tried === undefined || tried.get(peerKey(peers, candidate)) === undefined) {
        if (!heeds || !isFailing(peers, candidate, request)) {
          return candidate;
        }
        untried = untried === 0 ? candidate : untried;
      }
      candidate = candidate >= peers.count ? 1 : candidate + 1;
    }
    return untried === 0 ? place : untried;
  }
}
