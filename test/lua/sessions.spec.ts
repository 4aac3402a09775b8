import type { Peers } from "../../lua-src/balancer/peer-list";
import { backendKeyOf, mishandlesNone } from "../../lua-src/balancer/session";
import { StickyBalanced } from "../../lua-src/balancer/sticky-balanced";
import { StickyPersistent } from "../../lua-src/balancer/sticky-persistent";
import type { RequestState } from "../../lua-src/features/feature";
import type { BackendDocument } from "../../lua-src/wire";
import { describe, expectEqual, it } from "./spec";

const name = "default-echo-80";

function peersOf(count: number): Peers {
  const peers: Peers = { count, addresses: new LuaTable(), ports: new LuaTable() };
  for (const i of $range(1, count)) {
    peers.addresses.set(i, `10.2.0.${i}`);
    peers.ports.set(i, 80);
  }
  return peers;
}

function documentOf(mode: string, changes: boolean): BackendDocument {
  const cookieSessionAffinity = { name: "SID", change_on_failure: changes };
  return { name, sessionAffinityConfig: { name: "cookie", mode, cookieSessionAffinity } } as unknown as BackendDocument;
}

function balancerOf(mode: string, peers: Peers, changes = false): StickyBalanced | StickyPersistent {
  const balancer = mode === "persistent" ? new StickyPersistent() : new StickyBalanced();
  balancer.update(peers, documentOf(mode, changes));
  return balancer;
}

function requestOf(over: Partial<RequestState> = {}): RequestState {
  const source = new LuaTable<number, string>();
  source.set(5, "/shop");
  return { route: { more: { issuesSession: true }, source }, tries: 0, ...over } as unknown as RequestState;
}

/** A client without a cookie: where it is sent, and the Set-Cookie that it gets. */
function newcomer(balancer: StickyBalanced | StickyPersistent, peers: Peers): LuaMultiReturn<[place: number, cookie: string]> {
  ngx.req.clear_header("Cookie");
  ngx.header.set("Set-Cookie", undefined);
  const place = balancer.pick(peers, requestOf());
  const text = (ngx.header.get("Set-Cookie") as unknown as string | string[] | undefined) ?? "";
  ngx.header.set("Set-Cookie", undefined);
  return $multi(place, type(text) === "table" ? (text as string[])[0]! : (text as string));
}

function pair(cookie: string): string {
  const [text] = string.match(cookie, "^[^;]+");
  return text!;
}

function returning(balancer: StickyBalanced | StickyPersistent, peers: Peers, cookie: string, over: Partial<RequestState> = {}): number {
  ngx.req.set_header("Cookie", cookie);
  const place = balancer.pick(peers, requestOf(over));
  ngx.req.clear_header("Cookie");
  return place;
}

describe("sessions", () => {
  it("have the key of the retired controller for their backend", () => {
    expectEqual(backendKeyOf(name), ngx.md5(ngx.md5(name) + name));
    const [, cookie] = newcomer(balancerOf("balanced", peersOf(3)), peersOf(3));
    const [found] = string.match(cookie, `^SID=%d+%.%d+%.%d+|${backendKeyOf(name)}; Path=/shop; HttpOnly$`);
    expectEqual(found !== undefined, true);
  });

  it("stay with their peer over requests and a restart of the worker", () => {
    for (const mode of ["balanced", "persistent"]) {
      const peers = peersOf(5);
      const balancer = balancerOf(mode, peers);
      for (const _ of $range(1, 50)) {
        const [place, cookie] = newcomer(balancer, peers);
        expectEqual(returning(balancer, peers, pair(cookie)), place);
        expectEqual(returning(balancerOf(mode, peers), peers, pair(cookie)), place);
      }
    }
  });

  it("persistent: stay while their peer is there; balanced: few move", () => {
    for (const mode of ["balanced", "persistent"]) {
      const [five, six] = [peersOf(5), peersOf(6)];
      const balancer = balancerOf(mode, five);
      let moved = 0;
      for (const _ of $range(1, 500)) {
        const [place, cookie] = newcomer(balancer, five);
        balancer.update(six, documentOf(mode, false));
        moved += returning(balancer, six, pair(cookie)) === place ? 0 : 1;
        balancer.update(five, documentOf(mode, false));
        expectEqual(returning(balancer, five, pair(cookie)), place);
      }
      expectEqual(mode === "persistent" ? moved === 0 : moved < 500 * 0.25, true);
    }
  });

  it("persistent: get another peer and cookie when theirs is gone", () => {
    const [three, two] = [peersOf(3), peersOf(2)];
    const balancer = balancerOf("persistent", three);
    let [place, cookie] = newcomer(balancer, three);
    while (place !== 3) {
      [place, cookie] = newcomer(balancer, three);
    }
    balancer.update(two, documentOf("persistent", false));
    const other = returning(balancer, two, pair(cookie));
    expectEqual(other === 1 || other === 2, true);
    const set = ngx.header.get("Set-Cookie") as unknown as string | string[];
    expectEqual(pair(type(set) === "table" ? (set as string[])[0]! : (set as string)) === pair(cookie), false);
    ngx.header.set("Set-Cookie", undefined);
  });

  it("leave a peer that failed only with change-on-failure", () => {
    for (const mode of ["balanced", "persistent"]) {
      const peers = peersOf(3);
      for (const changes of [true, false]) {
        const balancer = balancerOf(mode, peers, changes);
        for (const _ of $range(1, 20)) {
          const [place, cookie] = newcomer(balancer, peers);
          const tried = new LuaTable<string, true>();
          tried.set(`10.2.0.${place}:80`, true);
          expectEqual(returning(balancer, peers, pair(cookie), { tries: 1, tried }) === place, !changes);
          ngx.header.set("Set-Cookie", undefined);
        }
      }
    }
  });

  it("are spread evenly at first", () => {
    for (const mode of ["balanced", "persistent"]) {
      const peers = peersOf(4);
      const balancer = balancerOf(mode, peers);
      const seen: number[] = [0, 0, 0, 0];
      for (const _ of $range(1, 2000)) {
        const [place] = newcomer(balancer, peers);
        seen[place - 1] = seen[place - 1]! + 1;
      }
      for (const count of seen) {
        expectEqual(count > 300 && count < 700, true);
      }
    }
  });

  it("know who mishandles SameSite=None", () => {
    const mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_14_6) AppleWebKit/605.1.15 (KHTML, like Gecko)";
    expectEqual(
      [
        mishandlesNone("Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/51.0.2704.103 Safari/537.36"),
        mishandlesNone("Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/67.0.3396.99 Safari/537.36"),
        mishandlesNone(
          "Mozilla/5.0 (iPhone; CPU iPhone OS 12_4 like Mac OS X) AppleWebKit/605.1.15 Version/12.1 Mobile/15E148 Safari/604.1",
        ),
        mishandlesNone(`${mac} Version/12.1 Safari/605.1.15`),
      ],
      [true, true, true, true],
    );
    expectEqual(
      [
        mishandlesNone("Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36"),
        mishandlesNone("Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/500.0.0.0 Safari/537.36"),
        mishandlesNone("Mozilla/5.0 (iPhone; CPU iPhone OS 13_0 like Mac OS X) AppleWebKit/605.1.15 Version/13 Safari/604.1"),
        mishandlesNone(`${mac} Chrome/80.0.3987.132 Safari/537.36`),
        mishandlesNone(""),
      ],
      [false, false, false, false, false],
    );
  });
});
