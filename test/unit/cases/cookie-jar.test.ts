import { expect, test } from "vitest";
import { createJar } from "../../cases/runner/client/cookie-jar";

const SITE = { host: "app.test", path: "/a/b?q=1", secure: false };

test("a cookie without a path belongs to the directory of the request", () => {
  const jar = createJar();
  jar.store(SITE, ["k=v"]);
  expect(jar.header({ ...SITE, path: "/a/c" })).toBe("k=v");
  expect(jar.header({ ...SITE, path: "/ab" })).toBeUndefined();
  expect(jar.header({ ...SITE, path: "/" })).toBeUndefined();
});

test("paths match by whole segments and the longest comes first", () => {
  const jar = createJar();
  jar.store(SITE, ["k=root; Path=/", "k=deep; Path=/a"]);
  expect(jar.header({ ...SITE, path: "/a" })).toBe("k=deep; k=root");
  expect(jar.header({ ...SITE, path: "/ab" })).toBe("k=root");
});

test("without a domain only the same host gets it, with one the subdomains too", () => {
  const jar = createJar();
  jar.store(SITE, ["own=1; Path=/", "all=2; Path=/; Domain=.app.test", "alien=3; Path=/; Domain=other.test"]);
  expect(jar.header({ ...SITE, host: "x.app.test" })).toBe("all=2");
  expect(jar.header(SITE)).toBe("own=1; all=2");
  expect(jar.header({ ...SITE, host: "other.test" })).toBeUndefined();
});

test("secure cookies stay off plain connections", () => {
  const jar = createJar();
  jar.store({ ...SITE, secure: true }, ["k=v; Path=/; Secure; HttpOnly"]);
  expect(jar.header(SITE)).toBeUndefined();
  expect(jar.header({ ...SITE, secure: true })).toBe("k=v");
});

test("max-age wins over expires, and either ends a cookie", () => {
  let now = Date.parse("2026-01-01T00:00:00Z");
  const jar = createJar(() => now);
  jar.store(SITE, ["a=1; Path=/; Max-Age=10; Expires=Thu, 01-Jan-1970 00:00:01 GMT", "b=2; Path=/; Expires=Thu, 01-Jan-26 00:00:20 GMT"]);
  expect(jar.header(SITE)).toBe("a=1; b=2");
  now += 11_000;
  expect(jar.header(SITE)).toBe("b=2");
  now += 10_000;
  expect(jar.header(SITE)).toBeUndefined();
});

test("storing again replaces the value, an expired one removes it", () => {
  const jar = createJar();
  jar.store(SITE, ["k=1; Path=/"]);
  jar.store(SITE, ["k=2; Path=/"]);
  expect(jar.header(SITE)).toBe("k=2");
  jar.store(SITE, ["k=; Path=/; Max-Age=0"]);
  expect(jar.header(SITE)).toBeUndefined();
});
