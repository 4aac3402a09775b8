import { chooseAlternative } from "../../lua-src/balancer/choose";
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
  return { route: undefined as never, backend: undefined, tries: 0, peer: 0 };
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
function canaryCounts(shares: readonly number[], times: number): number[] {
  const list = new LuaTable<number, { backend: Backend; due: number }>();
  const names = new LuaTable<string, number>();
  const counts: number[] = [];
  for (const i of $range(1, shares.length)) {
    const shaping = { header: undefined, headerValue: undefined, headerPattern: undefined, cookie: undefined, share: shares[i - 1]! };
    const backend = { name: `c${i}`, fresh: true, peers: peersOf(1), balancer: new RoundRobin(), shaping } as Backend;
    list.set(i, { backend, due: 0 });
    names.set(backend.name, i - 1);
    counts[i - 1] = 0;
  }
  for (const _ of $range(1, times)) {
    const chosen = chooseAlternative({ list, count: shares.length });
    if (chosen !== undefined) {
      const place = names.get(chosen.name)!;
      counts[place] = counts[place]! + 1;
    }
  }
  return counts;
}

describe("balancer", () => {
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

  it("pays every canary its exact share", () => {
    expectEqual(canaryCounts([0.3], 1000), [300]);
    expectEqual(canaryCounts([0.001], 1000), [1]);
    expectEqual(canaryCounts([1], 50), [50]);
    expectEqual(canaryCounts([0], 50), [0]);
  });

  it("loses at most one request when several canaries fall due at once", () => {
    const [a, b, c] = canaryCounts([0.2, 0.2, 0.1], 1000) as [number, number, number];
    expectEqual([math.abs(a - 200) <= 1, math.abs(b - 200) <= 1, math.abs(c - 100) <= 1], [true, true, true]);
    const [d, e] = canaryCounts([0.5, 0.5], 1000) as [number, number];
    expectEqual([math.abs(d - 500) <= 1, math.abs(e - 500) <= 1], [true, true]);
  });
});
