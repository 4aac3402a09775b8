/** affinity-mode balanced: the cookie's key is hashed, whatever it is; when peers change, few sessions move. */
import type { RequestState } from "../features/feature";
import type { BackendDocument } from "../wire";
import { heedsHealth, isFailing } from "./health";
import { nobody, type Peers, peerKey, peerKeys, samePeers } from "./peer-list";
import { Ring } from "./ring";
import { issue, type Session, sessionOf, usableKey } from "./session";

const attempts = 20;

function newKey(attempt: number): string {
  return `${ngx.time() + attempt}.${ngx.worker.pid()}.${math.random(1, 999999)}`;
}

export class StickyBalanced {
  private peers = nobody;
  private ring: Ring | undefined;
  private session: Session | undefined;

  algorithm(): string {
    return "sticky_balanced";
  }

  update(peers: Peers, document: BackendDocument): void {
    this.session = sessionOf(document);
    if (!samePeers(peers, this.peers)) {
      this.peers = peers;
      // made when first needed: many backends, few of them busy in this worker
      this.ring = undefined;
    }
  }

  pick(peers: Peers, request: RequestState): number {
    const ring = this.ring ?? new Ring(peerKeys(peers), peers.count);
    this.ring = ring;
    const key = usableKey(this.session!, request);
    return key === undefined ? this.choose(ring, peers, request) : ring.find(key);
  }

  /** A key that leads to a peer neither tried nor failing; else to an untried one; else to any. */
  private choose(ring: Ring, peers: Peers, request: RequestState): number {
    const tried = request.tried;
    const heeds = heedsHealth(request);
    let [place, key, untried] = [0, "", false];
    for (const attempt of $range(1, attempts)) {
      const candidate = newKey(attempt);
      const found = ring.find(candidate);
      const fresh = tried === undefined || tried.get(peerKey(peers, found)) === undefined;
      if (place === 0 || (fresh && !untried)) {
        place = found;
        key = candidate;
        untried = fresh;
      }
      if (fresh && (!heeds || !isFailing(peers, found, request))) {
        place = found;
        key = candidate;
        break;
      }
    }
    issue(this.session!, key, request);
    return place;
  }
}
