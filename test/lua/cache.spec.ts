import { Cache } from "../../lua-src/base/cache";
import { describe, expectEqual, it } from "./spec";

interface Entry {
  readonly n: number;
}

describe("cache", () => {
  it("never holds more than two generations", () => {
    const cache = new Cache<Entry>(10);
    for (const n of $range(1, 100)) {
      cache.set(`k${n}`, { n });
    }
    let held = 0;
    for (const n of $range(1, 100)) {
      held += cache.get(`k${n}`) === undefined ? 0 : 1;
    }
    expectEqual(held > 0 && held <= 20, true);
  });

  it("keeps what is in use through generations", () => {
    const cache = new Cache<Entry>(10);
    cache.set("hot", { n: 0 });
    for (const n of $range(1, 200)) {
      cache.set(`k${n}`, { n });
      expectEqual(cache.get("hot"), { n: 0 });
    }
    expectEqual(cache.get("k1"), undefined);
  });

  it("drops from both generations", () => {
    const cache = new Cache<Entry>(2);
    cache.set("a", { n: 1 });
    cache.set("b", { n: 2 });
    cache.set("c", { n: 3 });
    cache.drop("a");
    cache.drop("c");
    expectEqual(cache.get("a"), undefined);
    expectEqual(cache.get("c"), undefined);
    expectEqual(cache.get("b"), { n: 2 });
    cache.clear();
    expectEqual(cache.get("b"), undefined);
  });
});
