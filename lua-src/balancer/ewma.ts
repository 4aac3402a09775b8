/**
 * ewma: the better of two random peers by an exponentially weighted average of response times that all workers share,
 * fading within 10 s. The averages are keyed by address alone, so backends with the same pods learn from each other.
 */
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

/** Last number of a list such as "0.001, 0.002"; 0 where there is none. */
function lastNumber(times: string | undefined): number {
  if (times === undefined) {
    return 0;
  }
  const [text] = string.match(times, "([^%s,:]+)$");
  return tonumber(text) ?? 0;
}

/** Whoever finds the lock taken leaves its sample out. */
function learn(key: string, taken: number): void {
  const [mine] = locks.add(key, 1, 0.1);
  if (!mine) {
    return;
  }
  const [score] = scores.get(key);
  store(key, faded((score as number | undefined) ?? 0, secondsSince(key), taken));
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

export class Ewma {
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
    request.measured = this.keys.get(place);
    ngx.var.set("balancer_ewma_score", `${score}`);
    return place;
  }

  done(request: RequestState): void {
    const key = request.measured;
    if (key !== undefined) {
      learn(key, lastNumber(ngx.var.get("upstream_connect_time")) + lastNumber(ngx.var.get("upstream_response_time")));
    }
  }
}

export { faded, lastNumber, learn };
