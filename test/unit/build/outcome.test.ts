import { expect, test } from "vitest";
import { countsText, outcomeOfText, single } from "../../../build/outcome.ts";

test("the counts are those of the last line that has them", () => {
  const text = "1 passed, 0 failed, 0 skipped\nmore\n  12 passed, 3 failed, 4 skipped  \nsome noise after it\n";
  expect(outcomeOfText(text)).toMatchObject({ passed: 12, failed: 3, skipped: 4 });
});

test("failures are named and reasons for skipping are counted", () => {
  const text =
    "FAILED tls/sni 12 ms: step 1: status\n\nskipped:\n  27 × needs grpc: no such module\n  3 × expected failure\n\n1 passed, 1 failed, 30 skipped\n";
  expect(outcomeOfText(text)).toEqual({
    passed: 1,
    failed: 1,
    skipped: 30,
    failures: ["tls/sni"],
    skips: { "needs grpc: no such module": 27, "expected failure": 3 },
  });
});

test.each(["", "12 passed", "12 passed, 3 failed, 4 skipped, 5 odd", "Error: cannot start"])("no counts in %j", (text) => {
  expect(outcomeOfText(text)).toBeUndefined();
});

test("a check that fails counts as one failed test and is named", () => {
  const outcome = single(false, "types");
  expect(countsText(outcome)).toBe("0 passed, 1 failed, 0 skipped");
  expect(outcome.failures).toEqual(["types"]);
});

test("a check that passes counts as one test", () => {
  expect(countsText(single(true, "types"))).toBe("1 passed, 0 failed, 0 skipped");
});
