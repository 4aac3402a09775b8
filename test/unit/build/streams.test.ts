import { expect, test } from "vitest";
import { parseEntry } from "../../../control/build/streams.ts";

test("an entry of the TCP services names a Service, a port and, if wanted, the PROXY protocol on either side", () => {
  const plain = { namespace: "default", name: "db", port: "5432", decode: false, encode: false };
  expect(parseEntry("default/db:5432")).toEqual(plain);
  expect(parseEntry(" default/db:pg ")).toEqual({ ...plain, port: "pg" });
  expect(parseEntry("default/db:5432:PROXY")).toEqual({ ...plain, decode: true });
  expect(parseEntry("default/db:5432::proxy")).toEqual({ ...plain, encode: true });
  expect(parseEntry("default/db:5432:Proxy:PROXY")).toEqual({ ...plain, decode: true, encode: true });
  expect(parseEntry("default/db:5432:other:")).toEqual(plain);
});

test.each(["", "db:5432", "default/db", "default/db:", "a/b/c:1", "default/db:1:PROXY:PROXY:x", "/db:1"])("%j is no entry", (text) => {
  expect(parseEntry(text)).toBeUndefined();
});
