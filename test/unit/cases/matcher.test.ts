import { describe, expect, test } from "vitest";
import { compare, compareAny, testText } from "../../cases/runner/matcher";

describe("a matcher", () => {
  test("a plain value means equal, numbers compare as text", () => {
    expect(compare("a", "a")).toBeUndefined();
    expect(compare("80", 80)).toBeUndefined();
    expect(compare("ab", "a")).toContain('expected "a", came "ab"');
    expect(compare(undefined, "a")).toContain("came nothing");
  });
  test("null expects nothing at all", () => {
    expect(compare(undefined, null)).toBeUndefined();
    expect(compare(null, null)).toBeUndefined();
    expect(compare("", null)).toContain("expected none");
  });
  test("absent fails on an empty value, which is there", () => {
    expect(testText(undefined, { absent: true })).toBeUndefined();
    expect(testText("", { absent: true })).toContain("expected none");
    expect(testText(undefined, { absent: false })).toContain("came nothing");
  });
  test("a missing value meets lacks but neither contains nor matches", () => {
    expect(testText(undefined, { lacks: ["x"] })).toBeUndefined();
    expect(testText(undefined, { contains: "x" })).toBeDefined();
    expect(testText(undefined, { matches: [".*"] })).toBeDefined();
  });
  test("every one of several texts must hold", () => {
    expect(testText("one two", { contains: ["one", "two"] })).toBeUndefined();
    expect(testText("one two", { contains: ["one", "three"] })).toContain("three");
    expect(testText("one two", { lacks: ["three", "two"] })).toContain("without");
  });
  test("patterns are searched, not anchored", () => {
    expect(testText("xabcx", { matches: "b" })).toBeUndefined();
    expect(testText("xabcx", { matches: "^b" })).toBeDefined();
  });
  test("any one value of a repeated header will do, but absent and lacks look at all", () => {
    expect(compareAny(["a=1", "b=2"], { contains: "b=" })).toBeUndefined();
    expect(compareAny(["a=1", "b=2"], "c")).toContain("came");
    expect(compareAny([], { absent: true })).toBeUndefined();
    expect(compareAny(["a", "b"], { absent: true })).toBeDefined();
    expect(compareAny(["a", "b"], { lacks: "b" })).toBeDefined();
  });
});
