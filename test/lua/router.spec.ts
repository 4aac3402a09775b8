import { matchPath } from "../../lua-src/router/path";
import { compileHost } from "../../lua-src/router/route";
import type { RouteDocument } from "../../lua-src/wire";
import { describe, expectEqual, it } from "./spec";

function route(kind: RouteDocument["kind"], path: string): RouteDocument {
  return { kind, path, backend: "b", source: { namespace: "n", ingress: "i", service: "s", port: "80", path }, features: {} };
}

/** Place of the route in the list, 0 for none. */
function placeOf(routes: readonly RouteDocument[], uri: string): number {
  return matchPath(compileHost({ name: "a.test", routes }), uri)?.index ?? 0;
}

describe("router", () => {
  it("takes exact before the longest prefix", () => {
    const routes = [
      route("prefix", "/"),
      route("prefix", "/a/"),
      route("prefix", "/a/b/"),
      route("exact", "/a/b"),
      route("exact", "/a/b/c"),
    ];
    expectEqual(placeOf(routes, "/"), 1);
    expectEqual(placeOf(routes, "/ab"), 1);
    expectEqual(placeOf(routes, "/a/x"), 2);
    expectEqual(placeOf(routes, "/a/b"), 4);
    expectEqual(placeOf(routes, "/a/b/"), 3);
    expectEqual(placeOf(routes, "/a/b/c"), 5);
    expectEqual(placeOf(routes, "/a/b/c/"), 3);
    expectEqual(placeOf(routes, "/A/b"), 1);
  });

  it("tells an exact path with a final slash from a prefix of that text", () => {
    const routes = [route("exact", "/a/"), route("prefix", "/a/")];
    expectEqual(placeOf(routes, "/a/"), 1);
    expectEqual(placeOf(routes, "/a/x"), 2);
    expectEqual(placeOf([route("exact", "/a/")], "/a/x"), 0);
  });

  it("finds nothing where nothing fits", () => {
    expectEqual(placeOf([], "/"), 0);
    expectEqual(placeOf([route("prefix", "/a/")], "/"), 0);
    expectEqual(placeOf([route("exact", "/a")], "/a/b"), 0);
  });

  it("goes through expressions in order, anchored at the start, in any case", () => {
    const routes = [route("regex", "/a/(x|y)$"), route("iprefix", "/A"), route("regex", "/[0-9]+"), route("iprefix", "/")];
    expectEqual(placeOf(routes, "/A/X"), 1);
    expectEqual(placeOf(routes, "/a/x/"), 2);
    expectEqual(placeOf(routes, "/12a"), 3);
    expectEqual(placeOf(routes, "/b/12"), 4);
  });

  it("passes over an expression that PCRE refuses, every time", () => {
    const routes = [route("regex", "/("), route("iprefix", "/")];
    expectEqual(placeOf(routes, "/("), 2);
    expectEqual(placeOf(routes, "/("), 2);
  });

  it("answers 503 for a route that cannot be compiled, and serves its neighbours", () => {
    const broken: RouteDocument = { ...route("prefix", "/a/"), features: { timeouts: { connect: "x" as never } } };
    const host = compileHost({ name: "a.test", routes: [route("prefix", "/"), broken] });
    expectEqual(matchPath(host, "/a/x")?.more?.status, 503);
    expectEqual(matchPath(host, "/b")?.more, undefined);
  });

  it("needs no table of special things for a plain host, and one route for a host with just /", () => {
    expectEqual(compileHost({ name: "a.test", routes: [route("prefix", "/"), route("exact", "/x")] }).more, undefined);
    const single = compileHost({ name: "a.test", routes: [route("prefix", "/")] });
    expectEqual(single.only?.index, 1);
    expectEqual(single.only?.more, undefined);
    expectEqual(compileHost({ name: "", routes: [route("prefix", "/")] }).more?.catchAll, true);
  });
});
