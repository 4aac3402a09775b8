import { changesOf, layoutOf, newSeries, observe } from "../../lua-src/metrics/series";
import type { MetricsSettings } from "../../lua-src/wire";
import { describe, expectEqual, it } from "./spec";

const settings: MetricsSettings = {
  perHost: true,
  undefinedHosts: false,
  time: [0.1, 1, 10],
  length: [100],
  size: [],
  skip: ["connect_duration_seconds", "header_duration_seconds", "response_duration_seconds"],
  socket: "",
};

function text(series: ReturnType<typeof newSeries>): string {
  return table.concat(changesOf(series, layoutOf(settings)) as unknown as string[], " ");
}

describe("metrics", () => {
  it("puts a value into the first bucket that holds it", () => {
    const layout = layoutOf(settings);
    const series = newSeries(layout);
    series.requests = 5;
    for (const value of [0, 0.1, 0.5, 10, 11]) {
      observe(layout, series.counters, 1, value);
    }
    expectEqual(text(series), "0 5 1 2 2 1 3 1 4 1 5 21.6");
  });

  it("leaves skipped histograms out and knows lists without a bound", () => {
    const layout = layoutOf(settings);
    const series = newSeries(layout);
    observe(layout, series.counters, 2, 1);
    observe(layout, series.counters, 5, 100);
    observe(layout, series.counters, 6, 101);
    observe(layout, series.counters, 7, 101);
    expectEqual(layout.size, 5 + 3 + 3 + 2);
    expectEqual(text(series), "0 0 6 1 8 100 10 1 11 101 12 1 13 101");
  });
});
