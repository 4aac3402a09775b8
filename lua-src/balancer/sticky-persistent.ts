/** affinity-mode persistent: the cookie's key names one peer, and the session stays there as long as the peer exists. */
import type { RequestState } from "../features/feature";
import type { BackendDocument } from "../wire";
import { nobody, type Peers, peerKey, samePeers } from "./peer-list";
import { onePlace } from "./random";
import { issue, type Session, sessionOf, usableKey } from "./session";

export class StickyPersistent {
  private peers = nobody;
  private places: LuaTable<string, number> | undefined;
  private session: Session | undefined;
  private name = "";

  algorithm(): string {
    return "sticky_persistent";
  }

  update(peers: Peers, document: BackendDocument): void {
    this.session = sessionOf(document);
    this.name = document.name;
    if (!samePeers(peers, this.peers)) {
      this.peers = peers;
      this.places = undefined;
    }
  }

  pick(peers: Peers, request: RequestState): number {
    const places = this.places ?? this.makePlaces(peers);
    const key = usableKey(this.session!, request);
    const place: number | undefined = key === undefined ? undefined : places.get(key);
    return place === undefined ? this.choose(peers, request) : place;
  }

  private keyOf(peers: Peers, place: number): string {
    return ngx.md5(this.name + peerKey(peers, place));
  }

  private makePlaces(peers: Peers): LuaTable<string, number> {
    const places = new LuaTable<string, number>();
    for (const i of $range(1, peers.count)) {
      places.set(this.keyOf(peers, i), i);
    }
    this.places = places;
    return places;
  }

  private choose(peers: Peers, request: RequestState): number {
    const place = onePlace(peers, request);
    issue(this.session!, this.keyOf(peers, place), request);
    return place;
  }
}
