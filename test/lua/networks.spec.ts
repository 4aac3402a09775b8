import { isBlockedClient, preparePatterns } from "../../lua-src/access/client-blocks";
import { contains, networksOf } from "../../lua-src/access/networks";
import { parseAddress } from "../../lua-src/base/address";
import { describe, expectEqual, it } from "./spec";

function within(list: readonly string[], address: string): boolean {
  return contains(networksOf(list), parseAddress(address)!);
}

describe("networks", () => {
  it("holds the first and the last address of a network and not their neighbours", () => {
    const list = ["192.168.1.64/27"];
    expectEqual(within(list, "192.168.1.63"), false);
    expectEqual(within(list, "192.168.1.64"), true);
    expectEqual(within(list, "192.168.1.95"), true);
    expectEqual(within(list, "192.168.1.96"), false);
  });

  it("takes the high half of the address space as well", () => {
    expectEqual(within(["128.0.0.0/1"], "255.255.255.255"), true);
    expectEqual(within(["128.0.0.0/1"], "127.255.255.255"), false);
    expectEqual(within(["255.255.255.255"], "255.255.255.255"), true);
  });

  it("ignores host bits", () => {
    expectEqual(within(["10.1.2.3/8"], "10.200.0.1"), true);
    expectEqual(within(["fd00:1::7/32"], "fd00:1:ffff::1"), true);
  });

  it("holds every address in a network of length 0, of its own kind only", () => {
    expectEqual(within(["0.0.0.0/0"], "203.0.113.9"), true);
    expectEqual(within(["0.0.0.0/0"], "::1"), false);
    expectEqual(within(["::/0"], "fd00::1"), true);
    expectEqual(within(["::/0"], "1.2.3.4"), false);
  });

  it("compares IPv6 networks whose length is no multiple of 8", () => {
    expectEqual(within(["2001:db8:8000::/33"], "2001:db8:8000::1"), true);
    expectEqual(within(["2001:db8:8000::/33"], "2001:db8:7fff::1"), false);
    expectEqual(within(["2001:db8::1/127"], "2001:db8::"), true);
    expectEqual(within(["2001:db8::1/127"], "2001:db8::2"), false);
  });

  it("takes an IPv4 address in IPv6 form for the IPv4 address, in lists and of clients", () => {
    expectEqual(within(["10.0.0.0/8"], "::ffff:10.1.1.1"), true);
    expectEqual(within(["::ffff:10.0.0.0/104"], "10.1.1.1"), true);
    expectEqual(within(["::ffff:10.0.0.0/104"], "11.1.1.1"), false);
  });

  it("finds an address in any of many networks of many lengths", () => {
    const list: string[] = [];
    for (const i of $range(0, 255)) {
      list[list.length] = `10.${i}.0.0/${i % 2 === 0 ? 24 : 30}`;
    }
    expectEqual(within(list, "10.200.0.255"), true);
    expectEqual(within(list, "10.201.0.3"), true);
    expectEqual(within(list, "10.201.0.4"), false);
  });

  it("leaves out what is no network", () => {
    for (const text of ["1.2.3.4/33", "::1/129", "1.2.3.4/x", "", "/8"]) {
      expectEqual([text, within([text], "1.2.3.4"), within([text], "::1")], [text, false, false]);
    }
  });

  it("holds nobody in an empty list, and no client without an address", () => {
    expectEqual(within([], "10.0.0.1"), false);
    expectEqual(contains(networksOf(["0.0.0.0/0", "::/0"]), ""), false);
  });

  it("makes one object of equal lists", () => {
    const first = networksOf(["10.0.0.0/8", "fd00::/8"]);
    expectEqual(networksOf(["10.0.0.0/8", "fd00::/8"]) === first, true);
    expectEqual(networksOf(["10.0.0.0/9", "fd00::/8"]) === first, false);
  });
});

describe("blocked clients", () => {
  it("passes everybody where there are no patterns", () => {
    expectEqual(preparePatterns(undefined), undefined);
    expectEqual(isBlockedClient(undefined, undefined), false);
  });

  it("keeps what PCRE takes of a list with a broken expression", () => {
    const patterns = preparePatterns(["~(", "~^bad", "Evil"])!;
    expectEqual(patterns.count, 2);
    expectEqual(patterns.expressions.get(1), "^bad");
    expectEqual(patterns.exact.get("evil"), true);
  });
});
