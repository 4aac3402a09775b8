import { beginSpan, parentText, readParent } from "../../lua-src/tracing/context";
import { describe, expectEqual, it } from "./spec";

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const parent = "00f067aa0ba902b7";

function read(text: string): string {
  const [foundTrace, foundParent, sampled] = readParent(text);
  return foundTrace === undefined ? "none" : `${foundTrace} ${foundParent} ${tostring(sampled)}`;
}

describe("trace context", () => {
  it("reads version 00", () => {
    expectEqual(read(`00-${trace}-${parent}-01`), `${trace} ${parent} true`);
    expectEqual(read(`00-${trace}-${parent}-00`), `${trace} ${parent} false`);
    // only the lowest bit of the flags is known
    expectEqual(read(`00-${trace}-${parent}-fe`), `${trace} ${parent} false`);
    expectEqual(read(`00-${trace}-${parent}-03`), `${trace} ${parent} true`);
  });

  it("reads the beginning of later versions", () => {
    expectEqual(read(`01-${trace}-${parent}-01`), `${trace} ${parent} true`);
    expectEqual(read(`01-${trace}-${parent}-01-what-is-new`), `${trace} ${parent} true`);
    expectEqual(read(`01-${trace}-${parent}-01.what-is-new`), "none");
  });

  it("takes nothing else", () => {
    for (const text of [
      "",
      trace,
      `00-${trace}-${parent}`,
      `00-${trace}-${parent}-1`,
      `00-${trace}-${parent}-01-`,
      `00-${trace}0-${parent}-01`,
      `00-${trace}-${parent}0-01`,
      `00-${string.upper(trace)}-${parent}-01`,
      `00-${string.rep("0", 32)}-${parent}-01`,
      `00-${trace}-${string.rep("0", 16)}-01`,
      `ff-${trace}-${parent}-01`,
      ` 00-${trace}-${parent}-01`,
      `0g-${trace}-${parent}-01`,
      `00-${string.rep("g", 32)}-${parent}-01`,
      `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`,
    ]) {
      expectEqual(read(text), "none");
    }
  });

  it("makes ids that differ, and a header that it can read", () => {
    const seen = new LuaTable<string, true>();
    for (const _ of $range(1, 1000)) {
      const span = beginSpan(`00-${trace}-${parent}-01`);
      expectEqual(seen.get(span.id), undefined);
      seen.set(span.id, true);
      expectEqual(read(parentText(span)), `${trace} ${span.id} true`);
      expectEqual(span.parent, parent);
    }
  });
});
