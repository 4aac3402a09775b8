/** Counters of one set of labels: a flat array of numbers, so that a request adds to places and makes nothing. */
import { type MetricsSettings, requestHistograms } from "../wire";

export interface Layout {
  /** By place in requestHistograms, from 1: where its buckets begin, undefined when it is skipped. */
  readonly begins: LuaTable<number, number | undefined>;
  readonly bounds: LuaTable<number, LuaTable<number, number>>;
  readonly counts: LuaTable<number, number>;
  /** Counters in all, the number of requests (place 0) not among them. */
  readonly size: number;
}

/** Counters from 1; the number of requests is `requests`. */
export interface Series {
  requests: number;
  readonly counters: LuaTable<number, number>;
}

function layoutOf(settings: MetricsSettings): Layout {
  const skipped = new LuaTable<string, true>();
  for (const name of settings.skip) {
    skipped.set(name, true);
  }
  const begins = new LuaTable<number, number | undefined>();
  const bounds = new LuaTable<number, LuaTable<number, number>>();
  const counts = new LuaTable<number, number>();
  let [place, next] = [0, 1];
  for (const { name, buckets } of requestHistograms) {
    place += 1;
    const list = settings[buckets];
    bounds.set(place, list as unknown as LuaTable<number, number>);
    counts.set(place, list.length);
    if (skipped.get(name) === undefined) {
      begins.set(place, next);
      next += list.length + 2;
    }
  }
  return { begins, bounds, counts, size: next - 1 };
}

function newSeries({ size }: Layout): Series {
  const counters = new LuaTable<number, number>();
  for (const i of $range(1, size)) {
    counters.set(i, 0);
  }
  return { requests: 0, counters };
}

/** `histogram` is a place in requestHistograms, from 1. */
function observe(layout: Layout, counters: LuaTable<number, number>, histogram: number, value: number): void {
  const begin: number | undefined = layout.begins.get(histogram);
  if (begin === undefined) {
    return;
  }
  const bounds = layout.bounds.get(histogram)!;
  const count = layout.counts.get(histogram)!;
  let bucket = count;
  // large values, the usual case for lengths, are found at once
  if (count > 0 && value <= bounds.get(count)!) {
    bucket = 0;
    while (value > bounds.get(bucket + 1)!) {
      bucket += 1;
    }
  }
  const place = begin + bucket;
  counters.set(place, counters.get(place)! + 1);
  const sum = begin + count + 1;
  counters.set(sum, counters.get(sum)! + value);
}

/** Index and increment by turns, without what is 0. */
function changesOf({ requests, counters }: Series, { size }: Layout): LuaTable<number, number> {
  const out = new LuaTable<number, number>();
  out.set(1, 0);
  out.set(2, requests);
  let count = 2;
  for (const i of $range(1, size)) {
    const value = counters.get(i)!;
    if (value !== 0) {
      out.set(count + 1, i);
      out.set(count + 2, value);
      count += 2;
    }
  }
  return out;
}

export { changesOf, layoutOf, newSeries, observe };
