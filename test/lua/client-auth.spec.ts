import { commonNameOf, judgeResult } from "../../lua-src/tls/client-auth";
import { describe, expectEqual, it } from "./spec";

function auth(verify: "on" | "optional" | "optional_no_ca") {
  return { authority: "a", verify, depth: 1, errorPage: undefined, commonName: undefined, context: "c" };
}

describe("client certificates", () => {
  it("finds the common name in a subject of RFC 2253", () => {
    expectEqual(commonNameOf("CN=alice"), "alice");
    expectEqual(commonNameOf("OU=x,O=CN\\=bob,CN=alice,C=AT"), "alice");
    expectEqual(commonNameOf("emailAddress=a@b.test+CN=alice,O=x"), "alice");
    expectEqual(commonNameOf("CN=x\\,CN\\=alice"), "x,CN=alice");
    expectEqual(commonNameOf("CN=J\\C3\\B6rg,O=x"), "Jörg");
    expectEqual(commonNameOf("2.5.4.45=#0302,CN=alice"), "alice");
    expectEqual(commonNameOf("CN="), "");
    expectEqual(commonNameOf("O=CN=alice"), undefined);
    expectEqual(commonNameOf(""), undefined);
  });

  it("judges as nginx does", () => {
    expectEqual(judgeResult(auth("on"), "SUCCESS"), "ok");
    expectEqual(judgeResult(auth("on"), "NONE"), "missing");
    expectEqual(judgeResult(auth("on"), "FAILED:self-signed certificate"), "bad");
    expectEqual(judgeResult(auth("optional"), "NONE"), "ok");
    expectEqual(judgeResult(auth("optional"), "FAILED:certificate has expired"), "bad");
    expectEqual(judgeResult(auth("optional_no_ca"), "FAILED:unable to verify the first certificate"), "ok");
    expectEqual(judgeResult(auth("optional_no_ca"), "FAILED:certificate has expired"), "bad");
  });
});
