import { expect, test } from "vitest";
import { Backoff } from "../../../control/source/backoff.ts";

const limits = { minMs: 100, maxMs: 1000, healthyMs: 10_000 };

test("waits double up to the limit while attempts are short", () => {
  const backoff = new Backoff(limits, () => 0);
  expect([0, 50, 0, 0, 0, 0].map((lasted) => backoff.next(lasted, 0))).toEqual([100, 200, 400, 800, 1000, 1000]);
});

test("a long attempt starts anew, at once", () => {
  const backoff = new Backoff(limits, () => 0);
  backoff.next(0, 0);
  backoff.next(0, 0);
  expect(backoff.next(10_000, 0)).toBe(0);
  expect(backoff.next(0, 0)).toBe(100);
});

test("Retry-After is a lower bound, and jitter adds up to a half", () => {
  expect(new Backoff(limits, () => 0).next(20_000, 5000)).toBe(5000);
  expect(new Backoff(limits, () => 1).next(0, 0)).toBe(150);
});
