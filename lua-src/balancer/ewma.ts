/**
 * ewma: the better of two random peers by an exponentially weighted average of response times that all workers share,
 * fading within 10 s. The averages are keyed by address alone, so backends with the same pods learn from each other.
 */
import { type Holder, hold } from "../base/holds";
import type { RequestState } from "../features/feature";
import { nobody, type Peers, peerKeys, samePeers } from "./peer-list";
import { twoPlaces } from "./random";

const decay = 10;
/** Seconds after which nothing is left of an average; entries of vanished peers go away by it. */
const lifetime = decay * 30;

const scores = ngx.shared.get("balancer_ewma")!;
const touched = ngx.shared.get("balancer_ewma_last_touched_at")!;
const locks = ngx.shared.get("balancer_ewma_locks")!;

/** The average `seconds` later, when a response took `taken`. */
function faded(score: number, seconds: number, taken: number): number {
  const weight = math.exp(-math.max(seconds, 0) / decay);
  return score * weight + taken * (1 - weight);
}

function secondsSince(key: string): number {
  const [at] = touched.get(key);
  return ngx.now() - ((at as number | undefined) ?? 0);
}

function scoreOf(key: string): number {
  const [score] = scores.get(key);
  return score === undefined ? 0 : faded(score as number, secondsSince(key), 0);
}

function store(key: string, score: number): void {
  scores.set(key, score, lifetime);
  touched.set(key, ngx.now(), lifetime);
}

/** Place of the last try of a peer in a list such as "10.0.0.1:80, 10.0.0.2:80 : 10.0.0.1:80", 0: none. */
function lastTry(addresses: string, key: string): number {
  let [place, found] = [0, 0];
  for (const [address] of string.gmatch(addresses, "[^%s,]+")) {
    if (address !== ":") {
      place += 1;
      if (address === key) {
        found = place;
      }
    }
  }
  return found;
}

/** Text at a place of a list such as "0.001, - : 0.002". */
function textAt(list: string, place: number): string | undefined {
  let at = 0;
  for (const [text] of string.gmatch(list, "[^%s,:]+")) {
    at += 1;
    if (at === place) {
      return text;
    }
  }
  return undefined;
}

/** Seconds that the last try of the peer took, as the retired controller counted them; and what $upstream_header_time says. */
function timesOf(key: string): LuaMultiReturn<[taken: number | undefined, header: string | undefined]> {
  const connect = ngx.var.get("upstream_connect_time") ?? "";
  const response = ngx.var.get("upstream_response_time") ?? "";
  const header = ngx.var.get("upstream_header_time") ?? "";
  const addresses = ngx.var.get("upstream_addr") ?? "";
  if (addresses === key) {
    return $multi((tonumber(connect) ?? 0) + (tonumber(response) ?? 0), header);
  }
  const place = lastTry(addresses, key);
  if (place === 0) {
    return $multi(undefined, undefined);
  }
  return $multi((tonumber(textAt(connect, place)) ?? 0) + (tonumber(textAt(response, place)) ?? 0), textAt(header, place));
}

/** Whoever finds the lock taken leaves its sample out. However soon a peer fails, that makes it no better. */
function learn(key: string, taken: number, failed: boolean): void {
  const [mine] = locks.add(key, 1, 0.1);
  if (!mine) {
    return;
  }
  const [score] = scores.get(key);
  const before = (score as number | undefined) ?? 0;
  store(key, faded(before, secondsSince(key), failed ? math.max(taken, before) : taken));
  locks.delete(key);
}

function namesOf(keys: LuaTable<number, string>, count: number): LuaTable<string, true> {
  const names = new LuaTable<string, true>();
  for (const i of $range(1, count)) {
    names.set(keys.get(i)!, true);
  }
  return names;
}

function forgetGone(before: LuaTable<number, string>, count: number, now: LuaTable<string, true>): void {
  for (const i of $range(1, count)) {
    const key = before.get(i)!;
    if (now.get(key) === undefined) {
      scores.delete(key);
      touched.delete(key);
    }
  }
}

/** A newcomer starts at the average of those that have a score: neither shunned nor flooded. */
function welcomeNew(keys: LuaTable<number, string>, count: number): void {
  let [sum, known] = [0, 0];
  for (const i of $range(1, count)) {
    const [score] = scores.get(keys.get(i)!);
    if (score !== undefined) {
      sum += scoreOf(keys.get(i)!);
      known += 1;
    }
  }
  if (known === 0 || known === count) {
    return;
  }
  for (const i of $range(1, count)) {
    const key = keys.get(i)!;
    // another worker may have been first, and have learnt since
    const [added] = scores.add(key, sum / known, lifetime);
    if (added) {
      touched.set(key, ngx.now(), lifetime);
    }
  }
}

export class Ewma implements Holder {
  private peers = nobody;
  private keys = new LuaTable<number, string>();

  algorithm(): string {
    return "ewma";
  }

  update(peers: Peers): void {
    if (samePeers(peers, this.peers)) {
      return;
    }
    const [keys, before] = [peerKeys(peers), this.keys];
    forgetGone(before, this.peers.count, namesOf(keys, peers.count));
    welcomeNew(keys, peers.count);
    this.peers = peers;
    this.keys = keys;
  }

  pick(peers: Peers, request: RequestState): number {
    const [first, second] = twoPlaces(peers, request);
    let [place, score] = [first, -1];
    if (first !== second) {
      score = scoreOf(this.keys.get(first)!);
      const other = scoreOf(this.keys.get(second)!);
      if (other < score) {
        place = second;
        score = other;
      }
    }
    if (request.route.more?.measures === true) {
      this.note(request, this.keys.get(place)!);
    }
    ngx.var.set("balancer_ewma_score", `${score}`);
    return place;
  }

  failed(request: RequestState): void {
    const key = request.held?.key;
    if (key !== undefined) {
      const [taken] = timesOf(key);
      if (taken !== undefined) {
        learn(key, taken, true);
      }
    }
  }

  /** The request is over, or led elsewhere by the peer's answer. */
  giveBack(key: string): void {
    const [taken, header] = timesOf(key);
    if (taken !== undefined) {
      learn(key, taken, header === "-");
    }
  }

  private note(request: RequestState, key: string): void {
    const held = request.held;
    if (held === undefined || held.holder !== this) {
      request.held = hold(this, key, false);
    } else {
      held.key = key;
    }
  }
}

export { faded, lastTry, learn, textAt };
