/** Random places among peers, those first that a request has not tried and that are not failing. */
import { health, isFailing } from "./health";
import { type Peers, peerKey } from "./peer-list";

/** Places from 1 to count of `list`. */
export interface Places {
  readonly list: LuaTable<number, number>;
  readonly count: number;
}

/** Somebody has to be left out; else any place will do. */
function isChoosy(tried: LuaTable<string, true> | undefined): boolean {
  return tried !== undefined || health.until > 0;
}

/** The best there are: untried and not failing, else untried, else all. */
function bestPlaces(peers: Peers, tried: LuaTable<string, true> | undefined): Places {
  const [best, untried, all] = [new LuaTable<number, number>(), new LuaTable<number, number>(), new LuaTable<number, number>()];
  let [bestCount, untriedCount] = [0, 0];
  for (const i of $range(1, peers.count)) {
    all.set(i, i);
    if (tried === undefined || tried.get(peerKey(peers, i)) === undefined) {
      untriedCount += 1;
      untried.set(untriedCount, i);
      if (!isFailing(peers, i)) {
        bestCount += 1;
        best.set(bestCount, i);
      }
    }
  }
  if (bestCount > 0) {
    return { list: best, count: bestCount };
  }
  return untriedCount > 0 ? { list: untried, count: untriedCount } : { list: all, count: peers.count };
}

/** Two different places, or the only one twice. */
function twoPlaces(peers: Peers, tried: LuaTable<string, true> | undefined): LuaMultiReturn<[number, number]> {
  const places = isChoosy(tried) ? bestPlaces(peers, tried) : undefined;
  const count = places === undefined ? peers.count : places.count;
  const first = math.random(1, count);
  let second = first;
  if (count > 1) {
    second = math.random(1, count - 1);
    second = second >= first ? second + 1 : second;
  }
  if (places === undefined) {
    return $multi(first, second);
  }
  return $multi(places.list.get(first)!, places.list.get(second)!);
}

function onePlace(peers: Peers, tried: LuaTable<string, true> | undefined): number {
  if (!isChoosy(tried)) {
    return math.random(1, peers.count);
  }
  const { list, count } = bestPlaces(peers, tried);
  return list.get(math.random(1, count))!;
}

export { bestPlaces, isChoosy, onePlace, twoPlaces };
