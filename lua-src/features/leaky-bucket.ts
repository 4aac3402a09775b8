/**
 * The arithmetic of nginx' limit_req with nodelay, in shared memory: the excess (thousandths of a request) drains at
 * the rate and grows by one request each time; a request that would lift it above the burst is refused. One entry holds
 * both numbers, the excess as its value and the time as its flags, so readers never see half an update. It expires
 * when it is drained: memory is bounded by the clients of the moment.
 */

const buckets = ngx.shared.get("rate_limits")!;

/** Thousandths of requests: rate is per second. */
export interface BucketLimit {
  readonly rate: number;
  readonly burst: number;
}

/** Flags of an entry are a signed number of 32 bits: the clock goes round within 25 days. */
const round = 2147483648;

/** Milliseconds. */
function clock(): number {
  return math.floor(ngx.now() * 1000) % round;
}

/** From `last` to `now`; a small step back counts as none, as with nginx. */
function elapsed(last: number, now: number): number {
  const ms = (now - last) % round;
  if (ms < round / 2) {
    return ms;
  }
  return ms - round < -60000 ? 1 : 0;
}

/** What the excess would be with one more request; the caller compares it with the burst. */
function nextExcess(excess: number, ms: number, rate: number): number {
  return math.max(0, excess - math.floor((rate * ms) / 1000) + 1000);
}

/** Excess with one more request, 0 for the first; and the time to remember, which never goes back. */
function look(key: string, { rate }: BucketLimit, now: number): LuaMultiReturn<[excess: number, time: number]> {
  const [excess, last] = buckets.get(key);
  if (excess === undefined) {
    return $multi(0, now);
  }
  const ms = elapsed(last ?? 0, now);
  return $multi(nextExcess(excess as number, ms, rate), ms === 0 ? (last ?? 0) : now);
}

/** Drained means that the next request would leave nothing: exactly then a new entry is the same as the old one. */
function fill(key: string, limit: BucketLimit, now: number): void {
  const [excess, time] = look(key, limit, now);
  buckets.set(key, excess, (excess + 1000) / limit.rate, time);
}

/** Between look and fill no other worker may come. Seconds after which the lock of a worker that died is gone. */
const lockTime = 0.05;
const lockTries = 50;

/** False when others did not let go for some microseconds: then a count may be lost, but nobody waits. */
function lock(key: string): boolean {
  for (const _ of $range(1, lockTries)) {
    const [mine] = buckets.add(`l:${key}`, 1, lockTime);
    if (mine) {
      return true;
    }
  }
  return false;
}

function unlock(key: string): void {
  buckets.delete(`l:${key}`);
}

export { clock, elapsed, fill, lock, look, nextExcess, unlock };
