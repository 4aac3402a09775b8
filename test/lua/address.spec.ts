import { contains, parseAddress, parseNetwork } from "../../lua-src/base/address";
import { describe, expectEqual, it } from "./spec";

function within(network: string, address: string): boolean {
  return contains(parseNetwork(network)!, parseAddress(address)!);
}

describe("address", () => {
  it("reads IPv4 and every way to write IPv6", () => {
    expectEqual(parseAddress("10.0.0.255"), string.char(10, 0, 0, 255));
    expectEqual(parseAddress("::"), string.rep("\0", 16));
    expectEqual(parseAddress("::1"), `${string.rep("\0", 15)}\x01`);
    expectEqual(parseAddress("1::"), `\0\x01${string.rep("\0", 14)}`);
    expectEqual(parseAddress("fd00:10:244::5") === parseAddress("FD00:0010:0244:0:0:0:0:0005"), true);
    expectEqual(parseAddress("::ffff:1.2.3.4") === parseAddress("::ffff:102:304"), true);
  });

  it("refuses what is no address", () => {
    for (const text of ["", "1.2.3", "1.2.3.256", "1.2.3.4.5", "localhost", ":::", "1:2:3:4:5:6:7:8:9", "12345::", "g::", "1::2::3"]) {
      expectEqual(parseAddress(text), undefined);
    }
  });

  it("compares networks bit by bit", () => {
    expectEqual(within("10.0.0.0/8", "10.255.1.1"), true);
    expectEqual(within("10.0.0.0/8", "11.0.0.0"), false);
    expectEqual(within("192.168.1.77/28", "192.168.1.79"), true);
    expectEqual(within("192.168.1.77/28", "192.168.1.80"), false);
    expectEqual(within("1.2.3.4", "1.2.3.4"), true);
    expectEqual(within("1.2.3.4", "1.2.3.5"), false);
    expectEqual(within("0.0.0.0/0", "9.9.9.9"), true);
    expectEqual(within("0.0.0.0/0", "::1"), false);
    expectEqual(within("fd00:8000::/17", "fd00:ffff::1"), true);
    expectEqual(within("fd00:8000::/17", "fd00:7fff::1"), false);
  });

  it("refuses lengths beyond the address", () => {
    expectEqual(parseNetwork("1.2.3.4/33"), undefined);
    expectEqual(parseNetwork("::1/129"), undefined);
    expectEqual(parseNetwork("1.2.3.4/x"), undefined);
  });
});
