import { ChashSubset, subsetsOf } from "../../lua-src/balancer/chash-subset";
import type { Peers } from "../../lua-src/balancer/peer-list";
import { Ring } from "../../lua-src/balancer/ring";
import type { RequestState } from "../../lua-src/features/feature";
import type { BackendDocument } from "../../lua-src/wire";
import { describe, expectEqual, it } from "./spec";

const keys = 10000;

function idsOf(...numbers: readonly number[]): LuaTable<number, string> {
  const ids = new LuaTable<number, string>();
  let count = 0;
  for (const number of numbers) {
    count += 1;
    ids.set(count, `10.0.0.${number}:8080`);
  }
  return ids;
}

/** Id of each key's owner. */
function ownersOf(ids: LuaTable<number, string>, count: number): string[] {
  const ring = new Ring(ids, count);
  const owners: string[] = [];
  for (const i of $range(1, keys)) {
    owners[i - 1] = ids.get(ring.find(`key ${i}`))!;
  }
  return owners;
}

function moved(before: readonly string[], after: readonly string[]): number {
  let count = 0;
  for (const i of $range(0, keys - 1)) {
    count += before[i] === after[i] ? 0 : 1;
  }
  return count / keys;
}

/** The points of an id as they are defined: each is the checksum of the id and the point before it. */
function pointsOf(id: string): number[] {
  const points: number[] = [];
  let last = 0;
  for (const i of $range(0, 159)) {
    const bytes = string.char(last % 256, math.floor(last / 256) % 256, math.floor(last / 65536) % 256, math.floor(last / 16777216));
    last = ngx.crc32_long(id + bytes);
    points[i] = last;
  }
  return points;
}

/** Owner of a key by trying every point. */
function slowOwner(ids: readonly string[], key: string): string {
  const hash = ngx.crc32_long(key);
  let [next, owner] = [math.huge, ""];
  let [first, firstOwner] = [math.huge, ""];
  for (const id of ids) {
    for (const point of pointsOf(id)) {
      if (point >= hash && point < next) {
        [next, owner] = [point, id];
      }
      if (point < first) {
        [first, firstOwner] = [point, id];
      }
    }
  }
  return owner === "" ? firstOwner : owner;
}

describe("hashing", () => {
  it("finds the owner that ketama defines", () => {
    const ids = idsOf(1, 2, 3);
    const ring = new Ring(ids, 3);
    for (const i of $range(1, 200)) {
      expectEqual(ids.get(ring.find(`user-${i}`)), slowOwner(["10.0.0.1:8080", "10.0.0.2:8080", "10.0.0.3:8080"], `user-${i}`));
    }
  });

  it("moves no more than a peer's share and two percent when one comes or goes", () => {
    const ten = ownersOf(idsOf(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), 10);
    for (const gone of [1, 5, 10]) {
      const rest: number[] = [];
      for (const i of $range(1, 10)) {
        if (i !== gone) {
          rest[rest.length] = i;
        }
      }
      expectEqual(moved(ten, ownersOf(idsOf(...rest), 9)) <= 1 / 10 + 0.02, true);
    }
    expectEqual(moved(ten, ownersOf(idsOf(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), 11)) <= 1 / 11 + 0.02, true);
  });

  it("moves nothing when the order of the peers changes", () => {
    expectEqual(moved(ownersOf(idsOf(1, 2, 3, 4), 4), ownersOf(idsOf(4, 2, 1, 3), 4)), 0);
  });

  it("fills the last subset from the first peers", () => {
    const subsets = subsetsOf(5, 3);
    expectEqual([subsets.get(1)!.get(1), subsets.get(1)!.get(2), subsets.get(1)!.get(3)], [1, 2, 3]);
    expectEqual([subsets.get(2)!.get(1), subsets.get(2)!.get(2), subsets.get(2)!.get(3)], [4, 5, 1]);
    expectEqual(subsets.get(3), undefined);
  });

  it("serves a key from all members of its subset and from nobody else", () => {
    const peers: Peers = { count: 6, addresses: new LuaTable(), ports: new LuaTable() };
    for (const i of $range(1, 6)) {
      peers.addresses.set(i, `10.0.0.${i}`);
      peers.ports.set(i, 80);
    }
    const balancer = new ChashSubset();
    const config = { "upstream-hash-by": "constant", "upstream-hash-by-subset": true, "upstream-hash-by-subset-size": 2 };
    balancer.update(peers, { upstreamHashByConfig: config } as unknown as BackendDocument);
    const seen = new LuaTable<number, number>();
    for (const _ of $range(1, 1000)) {
      const place = balancer.pick(peers, { tries: 0 } as RequestState);
      seen.set(place, (seen.get(place) ?? 0) + 1);
    }
    let members = 0;
    for (const [, count] of pairs(seen)) {
      members += 1;
      expectEqual(count > 400, true);
    }
    expectEqual(members, 2);
  });
});
