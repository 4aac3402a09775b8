import { expect, test } from "vitest";
import { cidrList } from "../../../control/catalog/kinds.ts";
import { goodCidrs } from "../../../control/features/setting-kinds.ts";

test("a list of an annotation is refused for one bad or empty item", () => {
  expect(cidrList.parse(" 10.0.0.1 ,fd00::/8")).toEqual({ ok: true, value: ["10.0.0.1/32", "fd00::/8"] });
  for (const text of [
    ",",
    "10.0.0.0/8,",
    "10.0.0.0/8,,::1",
    "10.0.0.0/33",
    "::/129",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "010.0.0.1",
    "fe80::1%eth0",
  ]) {
    expect(cidrList.parse(text).ok, text).toBe(false);
  }
});

test("a list of the ConfigMap loses its bad items and does not turn into no list", () => {
  expect(goodCidrs.parse("")).toEqual({ ok: true, value: [] });
  expect(goodCidrs.parse("10.0.0.0/8,")).toEqual({ ok: true, value: ["10.0.0.0/8"] });
  expect(goodCidrs.parse("10.0.0.0/8, office")).toMatchObject({
    ok: true,
    value: ["10.0.0.0/8"],
    dropped: expect.stringContaining("office"),
  });
  expect(goodCidrs.parse("office")).toMatchObject({ ok: true, value: ["255.255.255.255/32"], dropped: expect.stringContaining("office") });
});
