// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of the case format
import { describe, expect, test } from "vitest";
import { globPattern, idOfPath } from "../../cases/runner/case-files";
import { parseCase } from "../../cases/runner/case-schema";
import { mergeFlags } from "../../cases/runner/controller";
import { parseExpected, shrinkExpected } from "../../cases/runner/expected-failures";
import { keyOf, keyText, normalise } from "../../cases/runner/kube-object";
import { fill } from "../../cases/runner/placeholders";
import { groupByFlags } from "../../cases/runner/pool";

const GOOD = "id: g/n\ntitle: t\nobjects: []\nsteps:\n  - { request: { url: 'http://a.test/' }, expect: { status: 200 } }\n";

describe("a case file", () => {
  test("gets its defaults", () => {
    expect(parseCase(GOOD)).toMatchObject({ id: "g/n", needs: [], flags: [], config: {}, quirk: false });
  });
  test.each([
    ["a key at the top", "nedes: []\n", "nedes"],
    ["a need", "needs: [grcp]\n", "grcp"],
    ["a setting that is no string", "config: { a: 1 }\n", "config.a"],
  ])("is refused for %s it does not know", (_what, extra, named) => {
    expect(() => parseCase(GOOD + extra)).toThrow(named);
  });
  test.each([
    ["{ request: { url: x }, expect: { staus: 200 } }", "staus"],
    ["{ request: { url: x, hedaers: {} } }", "hedaers"],
    ["{ request: { url: x }, expect: { headers: { a: { contain: x } } } }", "contain"],
    ["{ request: { url: x }, wait: { ms: 1 } }", "exactly one"],
    ["{ saw: { service: echo } }", "count"],
    ["{ request: { url: x }, expect: { shares: { echo: [1] } } }", "min, max"],
  ])("is refused for the step %s", (step, named) => {
    expect(() => parseCase(GOOD.replace(/ {2}- .*/, `  - ${step}`))).toThrow(named);
  });
  test("lies where its id says", () => {
    expect(idOfPath("/x/cases/rewrite/capture.yaml")).toBe("rewrite/capture");
  });
});

describe("placeholders", () => {
  const values = { ports: { http: 80, https: 443 }, files: new Map([["app.crt", "PEM"]]) };
  test("stand in any string; a port alone becomes a number", () => {
    expect(
      fill({ a: ["${file:app.crt}", "${pod:echo:1:port}", "x${pod:echo:1:port}", "${repeat:ab:2}", "${port:https}"] }, values),
    ).toEqual({
      a: ["PEM", 8080, "x8080", "abab", "443"],
    });
    expect(fill("${pod:echo:1:ip}", values)).toMatch(/^\d+\.\d+\.1\.2$/);
  });
  test("nginx variables stay, unknown ones of ours are errors", () => {
    expect(fill("${request_uri}", values)).toBe("${request_uri}");
    expect(() => fill("${file:nope}", values)).toThrow("nope");
    expect(() => fill("${port:smtp}", values)).toThrow("smtp");
  });
});

describe("expected failures", () => {
  const ids = new Set(["a/one", "a/two", "b/one"]);
  test("ids and patterns give their reason", () => {
    const expected = parseExpected("# head\na/* # later\nb/one\n", ids, "1.22.1");
    expect(expected.reasonFor("a/two")).toBe("later");
    expect(expected.reasonFor("b/one")).toBe("");
    expect(expected.reasonFor("b/two")).toBeUndefined();
  });
  test("a line that names no case is an error", () => {
    const bound = "a/one [nginx<1.25.1] # h2c\n";
    expect(parseExpected(bound, ids, "1.22.1").reasonFor("a/one")).toBe("h2c");
    expect(parseExpected(bound, ids, "1.26.3").reasonFor("a/one")).toBeUndefined();
    expect(() => parseExpected("c/one\n", ids, "1.22.1")).toThrow("c/one");
    expect(() => parseExpected("c/*\n", ids, "1.22.1")).toThrow("c/*");
  });
  test("shrinking drops what passed, writes patterns out and adds nothing", () => {
    const expected = parseExpected("# head\na/*  # later\nb/one  # x\n", ids, "1.22.1");
    expect(shrinkExpected(expected, ids, new Set(["a/one"]))).toBe("# head\na/two  # later\nb/one  # x\n");
    expect(shrinkExpected(expected, ids, new Set(["a/one", "b/one"]))).toBe("# head\na/two  # later\n");
  });
  test("a glob's other letters mean themselves", () => {
    expect(globPattern("a.b/*").test("axb/c")).toBe(false);
    expect(globPattern("a.b/*").test("a.b/c")).toBe(true);
  });
});

describe("objects", () => {
  test("cluster-scoped kinds have an empty namespace, others a default one", () => {
    expect(keyText(keyOf({ kind: "IngressClass", metadata: { name: "nginx" } }))).toBe("IngressClass//nginx");
    expect(keyText(keyOf({ kind: "Ingress", metadata: { name: "web" } }))).toBe("Ingress/default/web");
  });
  test("a Secret's text becomes data, a Service gets an address and its ports' defaults", () => {
    const secret = normalise({ apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { a: "b" }, data: { c: "ZA==" } });
    expect(secret).toMatchObject({ type: "Opaque", data: { a: "Yg==", c: "ZA==" } });
    expect(secret.stringData).toBeUndefined();
    const service = normalise({ apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } });
    expect(service).toMatchObject({ spec: { type: "ClusterIP", ports: [{ port: 80, targetPort: 80, protocol: "TCP" }] } });
    expect((service.spec as { clusterIP: string }).clusterIP).toMatch(/^10\./);
    const headless = normalise({ apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec: { clusterIP: "None" } });
    expect(headless).toMatchObject({ spec: { clusterIP: "None" } });
  });
});

test("of two flags with one name the last stays", () => {
  expect(mergeFlags(["--a=1", "--b", "--a=2"])).toEqual(["--b", "--a=2"]);
});

test("cases are grouped by their flags, the largest group last", () => {
  const one = (id: string, flags: readonly string[]) => ({ ...parseCase(GOOD), id, flags });
  const groups = groupByFlags([one("1", []), one("2", ["--x"]), one("3", [])]);
  expect(groups.map((group) => group.map((each) => each.id))).toEqual([["2"], ["1", "3"]]);
});
