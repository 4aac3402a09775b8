import { clock, elapsed, fill, look, nextExcess } from "../../lua-src/features/leaky-bucket";
import { describe, expectEqual, it } from "./spec";

interface Limit {
  readonly rate: number;
  readonly burst: number;
}

/** What passes when requests come at these milliseconds. */
function passes(key: string, limit: Limit, times: readonly number[]): string {
  let out = "";
  for (const now of times) {
    const [excess] = look(key, limit, now);
    if (excess > limit.burst) {
      out += "-";
    } else {
      fill(key, limit, now);
      out += "+";
    }
  }
  return out;
}

/** limit_req of nginx in one function, to compare with. */
function model(limit: Limit, times: readonly number[]): string {
  let out = "";
  let [excess, last, known] = [0, 0, false];
  for (const now of times) {
    const ms = now - last < -60000 ? 1 : math.max(0, now - last);
    const next = known ? math.max(0, excess - math.floor((limit.rate * ms) / 1000) + 1000) : 0;
    if (next > limit.burst) {
      out += "-";
    } else {
      out += "+";
      excess = next;
      last = !known || ms > 0 ? now : last;
      known = true;
    }
  }
  return out;
}

describe("limits", () => {
  it("lets one and the burst pass at once, then as many as the rate", () => {
    const at0 = [0, 0, 0, 0, 0, 0, 0, 0];
    expectEqual(passes("a", { rate: 1000, burst: 5000 }, at0), "++++++--");
    expectEqual(passes("b", { rate: 16, burst: 5000 }, at0), "++++++--");
    expectEqual(passes("c", { rate: 2000, burst: 2000 }, [0, 0, 0, 0, 499, 500, 501, 999, 1000]), "+++--+--+");
  });

  it("decides as nginx does, whatever comes when", () => {
    for (const run of $range(1, 200)) {
      const rate = math.random(1, 50) * 1000;
      const limit = { rate, burst: rate * math.random(1, 5) };
      const times: number[] = [];
      let now = 1000000;
      for (const i of $range(0, 99)) {
        now += math.random(1, 4) === 1 ? math.random(-3, 400) : math.random(0, 3);
        times[i] = now;
      }
      expectEqual(passes(`model ${run}`, limit, times), model(limit, times));
    }
  });

  it("counts on when the clock goes round", () => {
    const end = 2147483647;
    expectEqual([elapsed(end, 0), elapsed(end - 9, 10), elapsed(10, 9), elapsed(5, end - 5), elapsed(100000, 30000)], [1, 20, 0, 0, 1]);
    expectEqual(passes("round", { rate: 1000, burst: 1000 }, [end - 500, end - 500, end - 500, 499]), "++-+");
    expectEqual(clock() < 2147483648, true);
  });

  it("has no excess below nothing", () => {
    expectEqual([nextExcess(0, 0, 1000), nextExcess(0, 2000, 1000), nextExcess(5000, 1000, 1000)], [1000, 0, 5000]);
  });
});
