/** sluice/slow-start: an endpoint that joins others gets its share little by little. Wraps an algorithm that has a choice. */
import type { RequestState } from "../features/feature";
import type { BackendDocument } from "../wire";
import { type Peers, peerKey } from "./peer-list";
import type { Balancer } from "./pick";

const attempts = 3;

export class SlowStart implements Balancer {
  private readonly inner: Balancer;
  /** When each peer was first seen; 0 for those that were there when the worker came to know the backend. */
  private since: LuaTable<string, number> | undefined;
  private seconds = 0;
  /** When the youngest has its full share; 0: all have. */
  private until = 0;

  constructor(inner: Balancer) {
    this.inner = inner;
  }

  algorithm(): string {
    return `slow ${this.inner.algorithm()}`;
  }

  update(peers: Peers, document: BackendDocument): void {
    this.inner.update(peers, document);
    this.seconds = document.slowStart ?? 0;
    if (peers.count === 0) {
      return;
    }
    const [before, since] = [this.since, new LuaTable<string, number>()];
    let youngest = 0;
    for (const i of $range(1, peers.count)) {
      const key = peerKey(peers, i);
      const first = before === undefined ? 0 : (before.get(key) ?? ngx.now());
      since.set(key, first);
      youngest = math.max(youngest, first);
    }
    this.since = since;
    this.until = youngest === 0 ? 0 : youngest + this.seconds;
  }

  pick(peers: Peers, request: RequestState): number {
    const place = this.inner.pick(peers, request);
    return this.until === 0 ? place : this.temper(peers, request, place);
  }

  failed(request: RequestState): void {
    this.inner.failed?.(request);
  }

  private temper(peers: Peers, request: RequestState, first: number): number {
    const now = ngx.now();
    if (now >= this.until) {
      this.until = 0;
      return first;
    }
    let place = first;
    for (const _ of $range(1, attempts)) {
      const age = now - (this.since!.get(peerKey(peers, place)) ?? 0);
      if (age >= this.seconds || math.random() < age / this.seconds) {
        break;
      }
      place = this.inner.pick(peers, request);
    }
    return place;
  }
}
