import type { Alternative, Shaping } from "../../lua-src/balancer/canary";
import { chooseAlternative } from "../../lua-src/balancer/choose";
import { forgive, forgiveNew, isFailing, lastAsked, markFailing } from "../../lua-src/balancer/health";
import type { Peers } from "../../lua-src/balancer/peer-list";
import type { Backend } from "../../lua-src/balancer/peers";
import { RoundRobin } from "../../lua-src/balancer/round-robin";
import type { RequestState } from "../../lua-src/features/feature";
import { describe, expectEqual, it } from "./spec";

function peersOf(count: number): Peers {
  const [addresses, ports] = [new LuaTable<number, string>(), new LuaTable<number, number>()];
  for (const i of $range(1, count)) {
    addresses.set(i, `10.0.0.${i}`);
    ports.set(i, 80);
  }
  return { count, addresses, ports };
}

function request(): RequestState {
  return { route: undefined as never, backend: undefined, tries: 0 };
}

function spread(balancer: RoundRobin, peers: Peers, times: number): number[] {
  const seen: number[] = [];
  for (const i of $range(0, peers.count - 1)) {
    seen[i] = 0;
  }
  for (const _ of $range(1, times)) {
    const place = balancer.pick(peers, request()) - 1;
    seen[place] = seen[place]! + 1;
  }
  return seen;
}

/** How many of the requests each canary got, no rule deciding. */
function canaryCounts(weights: readonly number[], times: number, total = 100): number[] {
  const list = new LuaTable<number, Alternative>();
  const names = new LuaTable<string, number>();
  const counts: number[] = [];
  for (const i of $range(1, weights.length)) {
    const shaping = { weight: weights[i - 1]!, total } as Shaping;
    const backend = { name: `c${i}`, fresh: true, peers: peersOf(1), balancer: new RoundRobin(), shaping } as Backend;
    list.set(i, { backend, due: 0, total: 0, open: false });
    names.set(backend.name, i - 1);
    counts[i - 1] = 0;
  }
  const primary = { name: "main", alternatives: { list, count: weights.length } } as Backend;
  for (const _ of $range(1, times)) {
    const chosen = chooseAlternative(primary);
    if (chosen !== undefined) {
      const place = names.get(chosen.name)!;
      counts[place] = counts[place]! + 1;
    }
  }
  return counts;
}

describe("balancer", () => {
  it("forgets that a peer refused when its address comes anew", () => {
    markFailing("10.0.0.2:80");
    markFailing("10.0.0.3:80");
    expectEqual(isFailing(peersOf(3), 2, request()), true);
    forgiveNew(peersOf(3), peersOf(3));
    expectEqual(isFailing(peersOf(3), 2, request()), true);
    forgiveNew(peersOf(1), peersOf(2));
    expectEqual(isFailing(peersOf(3), 2, request()), false);
    expectEqual(isFailing(peersOf(3), 3, request()), true);
    forgiveNew(peersOf(2), peersOf(3));
    expectEqual(isFailing(peersOf(3), 3, request()), false);
    forgive();
  });

  it("holds a failure over TLS against the peer under the same upstream block only", () => {
    const [mine, other] = [
      { ...request(), pool: "sluice_https_a" },
      { ...request(), pool: "sluice_https_b" },
    ];
    markFailing("sluice_https_a 10.0.0.1:80");
    expectEqual(
      [isFailing(peersOf(1), 1, mine), isFailing(peersOf(1), 1, other), isFailing(peersOf(1), 1, request())],
      [true, false, false],
    );
    forgiveNew(peersOf(0), peersOf(1));
    expectEqual(isFailing(peersOf(1), 1, mine), false);
    forgive();
  });

  it("takes nginx's word for the peer that failed, whatever peers the backend has by now", () => {
    expectEqual(
      [lastAsked("10.0.0.1:80 : "), lastAsked("10.0.0.1:80, 10.0.0.2:80 : "), lastAsked("10.0.0.1:80 : 10.0.0.3:80, [fd00::1]:80 : ")],
      ["10.0.0.1:80", "10.0.0.2:80", "[fd00::1]:80"],
    );
    expectEqual(lastAsked(""), undefined);
  });

  it("gives each peer its turn", () => {
    const balancer = new RoundRobin();
    balancer.update(peersOf(3));
    expectEqual(spread(balancer, peersOf(3), 30), [10, 10, 10]);
  });

  it("goes on within bounds when peers go away", () => {
    const balancer = new RoundRobin();
    balancer.update(peersOf(7));
    spread(balancer, peersOf(7), 6);
    balancer.update(peersOf(2));
    expectEqual(spread(balancer, peersOf(2), 10), [5, 5]);
  });

  it("tries a peer again only when all were tried", () => {
    const [balancer, peers] = [new RoundRobin(), peersOf(3)];
    balancer.update(peers);
    const state = request();
    state.tries = 1;
    state.tried = new LuaTable();
    state.tried.set("10.0.0.1:80", true);
    state.tried.set("10.0.0.3:80", true);
    expectEqual(balancer.pick(peers, state), 2);
    state.tried.set("10.0.0.2:80", true);
    const place = balancer.pick(peers, state);
    expectEqual(place >= 1 && place <= 3, true);
  });

  it("pays a canary its exact share in any 100 requests", () => {
    for (const weight of $range(0, 100)) {
      expectEqual(canaryCounts([weight], 300), [3 * weight]);
    }
    expectEqual(canaryCounts([1], 1000, 1000), [1]);
    expectEqual(canaryCounts([333], 3000, 1000), [999]);
  });

  it("loses at most one request when several canaries fall due at once", () => {
    const [a, b, c] = canaryCounts([20, 20, 10], 1000) as [number, number, number];
    expectEqual([math.abs(a - 200) <= 1, math.abs(b - 200) <= 1, math.abs(c - 100) <= 1], [true, true, true]);
    const [d, e] = canaryCounts([50, 50], 1000) as [number, number];
    expectEqual([math.abs(d - 500) <= 1, math.abs(e - 500) <= 1], [true, true]);
  });

  it("shares what there is among canaries that want more than all", () => {
    const [a, b] = canaryCounts([80, 80], 1000) as [number, number];
    expectEqual([math.abs(a - 500) <= 5, math.abs(b - 500) <= 5, a + b], [true, true, 1000]);
  });
});
