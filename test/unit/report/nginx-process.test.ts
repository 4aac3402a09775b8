import { expect, test } from "vitest";
import { ProcessTotals, type ProcessUsage } from "../../../control/report/nginx-process.ts";

function used(id: string, amount: number): ProcessUsage {
  return { id, cpuSeconds: amount, readBytes: amount * 10, writeBytes: amount * 100, resident: 1, virtual: 1, started: 1 };
}

test("counters of nginx's processes never fall: what ended with a worker stays", () => {
  const totals = new ProcessTotals();
  const steps: ProcessUsage[][] = [
    [used("1 5", 1), used("2 6", 50), used("3 6", 40)],
    // a reload: new workers, one of the old ones has gone
    [used("1 5", 2), used("3 6", 45), used("4 9", 1)],
    // the other is a zombie, of which /proc says nothing any more
    [used("1 5", 2), used("3 6", 0), used("4 9", 3)],
    [used("1 5", 2), used("4 9", 4)],
    // the same pid once more
    [used("1 5", 2), used("4 9", 4), used("2 20", 7)],
    [],
  ];
  const seen = steps.map((running) => totals.add(running));
  expect(seen.map((t) => t.cpuSeconds)).toEqual([91, 98, 100, 101, 108, 108]);
  expect(seen.at(-1)).toEqual({ cpuSeconds: 108, readBytes: 1080, writeBytes: 10800 });
});
