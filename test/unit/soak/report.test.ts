import { expect, test } from "vitest";
import { growthOf, type Series } from "../../soak/memory.ts";
import { brokenPromises, type SoakReport } from "../../soak/report.ts";

const good: SoakReport = {
  minutes: 10,
  load: { one: { answered: 600, failures: {} }, two: { answered: 400, failures: {} } },
  late: 1,
  changes: 29_990,
  changesWanted: 30_000,
  syncs: 20_000,
  reloads: 0,
  counted: 1000,
  spans: 1000,
  newWorkers: 0,
  growth: [
    { name: "worker", promised: true, early: 100, late: 104, highest: 110 },
    { name: "controller", promised: false, early: 100, late: 150, highest: 160 },
  ],
  free: [],
};

function series(bytes: (seconds: number) => number, end: number): Series {
  const times = Array.from({ length: end / 5 + 1 }, (_, index) => index * 5);
  return { name: "worker", promised: true, samples: times.map((seconds) => ({ seconds, bytes: bytes(seconds) })) };
}

test("a run that kept every promise has nothing to say", () => {
  expect(brokenPromises(good)).toEqual([]);
});

test("each broken promise is named", () => {
  const failed = { ...good.load, two: { answered: 400, failures: { "status 502": 3 } } };
  const cases: readonly [Partial<SoakReport>, RegExp][] = [
    [{ load: failed }, /^3 requests failed/],
    [{ load: { ...good.load, three: { answered: 0, failures: {} } } }, /^three: not one request/],
    [{ late: 2 }, /^2 requests went to pods/],
    [{ reloads: 1 }, /reloaded 1 times/],
    [{ newWorkers: 2 }, /2 workers were started anew/],
    [{ changes: 20_000 }, /only 20000 of 30000 changes/],
    [{ counted: 999 }, /999 requests, the clients 1000/],
    [{ spans: 1001 }, /^1001 spans came of the clients' 1000/],
    [{ growth: [{ name: "worker", promised: true, early: 100, late: 106, highest: 110 }] }, /memory of worker grew by 6.0 %/],
  ];
  for (const [change, words] of cases) {
    const broken = brokenPromises({ ...good, ...change });
    expect(broken).toHaveLength(1);
    expect(broken[0]).toMatch(words);
  }
});

test("growth compares the last minute with minutes 2 and 3, and says nothing about short runs", () => {
  expect(growthOf([series(() => 1, 200)])).toBeUndefined();
  const [growth] = growthOf([series((seconds) => (seconds < 60 ? 10_000 : seconds), 600)])!;
  expect(growth).toMatchObject({ early: 117.5, late: 570, highest: 10_000 });
});
