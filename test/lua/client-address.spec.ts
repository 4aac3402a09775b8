import { fromChain } from "../../lua-src/access/client-address";
import { networksOf } from "../../lua-src/access/networks";
import { describe, expectEqual, it } from "./spec";

const trusted = networksOf(["10.0.0.0/8", "fd00::/8"]);

describe("client address", () => {
  it("is the peer where the peer is not trusted or says nothing", () => {
    expectEqual(fromChain("203.0.113.7", "192.0.2.1", trusted), "192.0.2.1");
    expectEqual(fromChain("", "10.0.0.1", trusted), "10.0.0.1");
    expectEqual(fromChain("who knows", "10.0.0.1", trusted), "10.0.0.1");
  });

  it("is the last address that is not trusted, else the first one", () => {
    expectEqual(fromChain("203.0.113.7", "10.0.0.1", trusted), "203.0.113.7");
    expectEqual(fromChain("198.51.100.1, 203.0.113.7 , 10.9.9.9", "10.0.0.1", trusted), "203.0.113.7");
    expectEqual(fromChain("10.1.1.1,10.2.2.2", "10.0.0.1", trusted), "10.1.1.1");
    expectEqual(fromChain("rubbish, 10.2.2.2", "10.0.0.1", trusted), "10.2.2.2");
  });

  it("may have a port or brackets", () => {
    expectEqual(fromChain("203.0.113.7:4711, [fd00::7]:80, fd00::8", "10.0.0.1", trusted), "203.0.113.7");
    expectEqual(fromChain("2001:db8::1", "fd00::1", trusted), "2001:db8::1");
  });
});
