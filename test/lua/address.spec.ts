import { parseAddress } from "../../lua-src/base/address";
import { describe, expectEqual, it } from "./spec";

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
});
