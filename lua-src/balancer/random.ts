/** Random places among peers, those first that a request has not tried and that are not failing. */
import type { RequestState } from "../features/feature";
import { heedsHealth, isFailing } from "./health";
import { type Peers, peerKey } from "./peer-list";

/** Places from 1 to count of `list`. */
export interface Places {
  readonly list: LuaTable<number, number>;
  readonly count: number;
}

/** Somebody has to be left out; else any place will do. */
function isChoosy(request: RequestState): boolean {
  return request.tried !== undefined || heedsHealth(request);
}

/** The best there are: untried and not failing, else untried, else all. */
function bestPlaces(peers: Peers, request: RequestState): Places {
  const tried = request.tried;
  const heeds = heedsHealth(request);
  const [best, untried, all] = [new LuaTable<number, number>(), new LuaTable<number, number>(), new LuaTable<number, number>()];
  let [bestCount, untriedCount] = [0, 0];
  for (const i of $range(1, peers.count)) {
    all.set(i, i);
    if (tried === undefined || tried.get(peerKey(peers, i)) === undefined) {
      untriedCount += 1;
      untried.set(untriedCount, i);
      if (!heeds || !isFailing(peers, i, request)) {
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
function twoPlaces(peers: Peers, request: RequestState): LuaMultiReturn<[number, number]> {
  const places = isChoosy(request) ? bestPlaces(peers, request) : undefined;
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

function onePlace(peers: Peers, request: RequestState): number {
  if (!isChoosy(request)) {
    return math.random(1, peers.count);
  }
  const { list, count } = bestPlaces(peers, request);
  return list.get(math.random(1, count))!;
}

export { bestPlaces, isChoosy, onePlace, twoPlaces };
