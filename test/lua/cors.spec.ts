import { isAllowed, prepareCors } from "../../lua-src/features/cors";
import type { CorsDocument } from "../../lua-src/wire";
import { describe, expectEqual, it } from "./spec";

function allows(origins: string[], origin: string): boolean {
  const document: CorsDocument = { origins, methods: "GET", headers: "X", credentials: true, maxAge: 1 };
  return isAllowed(prepareCors(document), origin);
}

describe("cors", () => {
  it("compares origins whole, in any case", () => {
    expectEqual(allows(["https://a.test"], "https://A.TEST"), true);
    for (const origin of ["https://a.test:443", "http://a.test", "https://a.test.evil.test", "evilhttps://a.test", "a.test", ""]) {
      expectEqual(allows(["https://a.test"], origin), false);
    }
    expectEqual(allows(["null"], "null"), true);
    expectEqual(allows(["https://a.test"], "null"), false);
  });

  it("lets a star stand for one label", () => {
    const origins = ["https://*.a.test:8080"];
    for (const origin of ["https://x.a.test:8080", "https://X-1.A.test:8080"]) {
      expectEqual(allows(origins, origin), true);
    }
    for (const origin of [
      "https://a.test:8080",
      "https://.a.test:8080",
      "https://x.y.a.test:8080",
      "https://x.a.test",
      "https://x_y.a.test:8080",
      "http://x.a.test:8080",
      "https://x.a.test:80801",
      "https://evil.test/.a.test:8080",
      "https://",
      "https://*.a.test:8080",
    ]) {
      expectEqual(allows(origins, origin), false);
    }
  });

  it("allows nobody without a list", () => {
    expectEqual(allows([], "https://a.test"), false);
  });
});
