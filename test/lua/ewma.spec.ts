import { Ewma, faded, lastTry, learn, textAt } from "../../lua-src/balancer/ewma";
import { LeastConnections } from "../../lua-src/balancer/least-connections";
import { type Peers, peerKey } from "../../lua-src/balancer/peer-list";
import { endHolds } from "../../lua-src/base/holds";
import type { RequestState } from "../../lua-src/features/feature";
import { describe, expectEqual, it } from "./spec";

const realNow = ngx.now;

/** Runs at a time of our own, which starts at the real one and stands still until it is moved. */
function atOwnTime(body: (move: (this: void, seconds: number) => void) => void): void {
  let time = realNow();
  ngx.now = () => time;
  const [ok, problem] = pcall(body, (seconds) => {
    time += seconds;
  });
  ngx.now = realNow;
  if (!ok) {
    error(problem);
  }
}

function peersOf(start: number, count: number): Peers {
  const peers: Peers = { count, addresses: new LuaTable(), ports: new LuaTable() };
  for (const i of $range(1, count)) {
    peers.addresses.set(i, `10.1.${start}.${i}`);
    peers.ports.set(i, 80);
  }
  return peers;
}

/** Requests one after the other, `gap` seconds apart; how many each peer got. */
function run(balancer: Ewma, peers: Peers, taken: readonly number[], times: number, move: (this: void, seconds: number) => void): number[] {
  const seen: number[] = [];
  for (const i of $range(0, peers.count - 1)) {
    seen[i] = 0;
  }
  for (const _ of $range(1, times)) {
    const place = balancer.pick(peers, { route: { more: undefined }, tries: 0 } as unknown as RequestState);
    seen[place - 1] = seen[place - 1]! + 1;
    move(0.005);
    learn(peerKey(peers, place), taken[place - 1]!, false);
  }
  return seen;
}

describe("ewma", () => {
  it("fades an average within ten seconds, and a clock that goes back counts as none", () => {
    expectEqual(faded(1, 0, 5), 1);
    expectEqual(math.abs(faded(1, 10, 0) - math.exp(-1)) < 1e-12, true);
    expectEqual(math.abs(faded(0, 10, 1) - (1 - math.exp(-1))) < 1e-12, true);
    expectEqual(faded(1, -5, 7), 1);
  });

  it("finds the last try of a peer among the tries of a request, error pages included", () => {
    const tries = "10.0.0.1:80, [::1]:80, 10.0.0.1:80 : 10.0.0.3:80";
    expectEqual(
      [lastTry(tries, "10.0.0.1:80"), lastTry(tries, "[::1]:80"), lastTry(tries, "10.0.0.3:80"), lastTry(tries, "10.0.0.4:80")],
      [3, 2, 4, 0],
    );
    expectEqual(lastTry("10.0.0.1:80 : ", "10.0.0.1:80"), 1);
    expectEqual([textAt("0.1, - : 0.3", 1), textAt("0.1, - : 0.3", 2), textAt("0.1, - : 0.3", 3)], ["0.1", "-", "0.3"]);
    expectEqual(textAt("0.1 : ", 2), undefined);
  });

  it("thinks no better of a peer that fails soon, and worse of one that fails late", () => {
    const scores = ngx.shared.get("balancer_ewma")!;
    atOwnTime((move) => {
      const key = "10.1.9.1:80";
      learn(key, 0.2, false);
      const [before] = scores.get(key);
      move(1);
      learn(key, 0, true);
      expectEqual(scores.get(key)[0], before);
      learn(key, 5, true);
      move(1);
      learn(key, 5, true);
      expectEqual((scores.get(key)[0] as number) > (before as number), true);
    });
  });

  it("takes four fifths and more away, within two seconds, from a peer that turns ten times slower", () => {
    atOwnTime((move) => {
      const [balancer, peers] = [new Ewma(), peersOf(1, 4)];
      balancer.update(peers);
      const before = run(balancer, peers, [0.01, 0.01, 0.01, 0.01], 2000, move);
      run(balancer, peers, [0.1, 0.01, 0.01, 0.01], 400, move);
      const after = run(balancer, peers, [0.1, 0.01, 0.01, 0.01], 2000, move);
      expectEqual(before[0]! > 250, true);
      expectEqual(after[0]! <= before[0]! / 5, true);
    });
  });

  it("asks a peer that this request tried only when it tried all", () => {
    const [balancer, peers] = [new Ewma(), peersOf(2, 3)];
    balancer.update(peers);
    const tried = new LuaTable<string, true>();
    tried.set("10.1.2.1:80", true);
    tried.set("10.1.2.3:80", true);
    for (const _ of $range(1, 50)) {
      expectEqual(balancer.pick(peers, { route: { more: undefined }, tries: 2, tried } as unknown as RequestState), 2);
    }
  });

  it("starts a newcomer at the average of the others and forgets those that are gone", () => {
    const scores = ngx.shared.get("balancer_ewma")!;
    atOwnTime(() => {
      const balancer = new Ewma();
      balancer.update(peersOf(3, 2));
      scores.set("10.1.3.1:80", 0.2);
      scores.set("10.1.3.2:80", 0.4);
      const touched = ngx.shared.get("balancer_ewma_last_touched_at")!;
      touched.set("10.1.3.1:80", ngx.now());
      touched.set("10.1.3.2:80", ngx.now());
      balancer.update(peersOf(3, 3));
      const [score] = scores.get("10.1.3.3:80");
      expectEqual(math.abs((score as number) - 0.3) < 1e-9, true);
      balancer.update(peersOf(3, 1));
      expectEqual([scores.get("10.1.3.2:80")[0], scores.get("10.1.3.3:80")[0]], []);
    });
  });
});

describe("least connections", () => {
  it("gives idle peers equal shares, from a random one on", () => {
    const [balancer, peers] = [new LeastConnections("least_conn"), peersOf(4, 3)];
    balancer.update(peers);
    const seen: number[] = [0, 0, 0];
    for (const _ of $range(1, 3000)) {
      const place = balancer.pick(peers, { route: { more: undefined }, tries: 0 } as unknown as RequestState);
      seen[place - 1] = seen[place - 1]! + 1;
    }
    for (const count of seen) {
      expectEqual(count > 850 && count < 1150, true);
    }
  });

  it("counts no request for ever whose second try came after a change of the algorithm", () => {
    const [before, after, peers] = [new LeastConnections("p2c"), new LeastConnections("least_conn"), peersOf(4, 1)];
    before.update(peers);
    after.update(peers);
    const request = { route: { more: { measures: true } }, tries: 0 } as unknown as RequestState;
    before.pick(peers, request);
    after.pick(peers, request);
    endHolds();
    for (const balancer of [before, after]) {
      const { open } = balancer as unknown as { open: LuaTable<string, number> };
      const [left] = next(open);
      expectEqual(left, undefined);
    }
  });
});
