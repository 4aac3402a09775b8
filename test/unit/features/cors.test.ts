import { expect, test } from "vitest";
import type { Place, Values } from "../../../control/catalog/feature.ts";
import { cors } from "../../../control/features/cors.ts";

type Rows = typeof cors.rows;

/** Values as resolve makes them: what does not parse falls to the default. */
function values(own: Readonly<Partial<Record<keyof Rows, string>>>): Values<Rows> {
  const out: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(cors.rows)) {
    const text = own[name as keyof Rows];
    const parsed = text === undefined ? undefined : row.kind.parse(text);
    out[name] = parsed?.ok === true ? parsed.value : row.default;
  }
  return out as unknown as Values<Rows>;
}

function origins(text: string) {
  const v = values({ "enable-cors": "true", "cors-allow-origin": text });
  return { origins: cors.build?.(v, {} as Place)?.cors?.origins, notices: cors.notices?.(v, {} as Place).length };
}

test("origins are whole: scheme, host, port", () => {
  expect(origins("https://A.test, http://*.b.test:80,null")).toEqual({
    origins: ["https://a.test", "http://*.b.test:80", "null"],
    notices: 0,
  });
  expect(origins("https://a.test,,https://a.test,")).toEqual({ origins: ["https://a.test"], notices: 0 });
  expect(origins("https://a.test, *")).toEqual({ origins: ["*"], notices: 0 });
});

test("what is no origin is skipped and told, and nothing else is allowed for it", () => {
  for (const bad of [
    "a.test",
    "https://a.*.test",
    "https://*a.test",
    "https://",
    "https://a.test/",
    "https://a.test:x",
    "HTTPS://a.test",
    "* *",
    "https://a;b",
  ]) {
    expect(origins(bad), bad).toEqual({ origins: undefined, notices: 1 });
    expect(origins(`${bad},https://ok.test`), bad).toEqual({ origins: ["https://ok.test"], notices: 1 });
  }
  expect(origins(" , ")).toEqual({ origins: undefined, notices: 0 });
});

test("lists of methods and headers hold no other text", () => {
  const parse = (name: keyof Rows, text: string) => cors.rows[name].kind.parse(text).ok;
  for (const good of ["GET", "GET, PUT,POST", "get PUT"]) expect(parse("cors-allow-methods", good), good).toBe(true);
  for (const bad of ["GET;PUT", "GET\nX: y", "GE7", "*"]) expect(parse("cors-allow-methods", bad), bad).toBe(false);
  for (const good of ["X-A,X_B", "DNT, User-Agent"]) expect(parse("cors-allow-headers", good), good).toBe(true);
  for (const bad of ["X:A", "X\nY", "$x", '"']) expect(parse("cors-allow-headers", bad), bad).toBe(false);
  for (const good of ["*", "X-A, X-B", "*, X"]) expect(parse("cors-expose-headers", good), good).toBe(true);
  for (const bad of ["X;A", "", ","]) expect(parse("cors-expose-headers", bad), bad).toBe(false);
});

test("off is off whatever else is set", () => {
  expect(cors.build?.(values({ "cors-allow-origin": "https://a.test" }), {} as Place)).toBeUndefined();
  expect(cors.notices?.(values({ "cors-allow-origin": "a.test" }), {} as Place)).toEqual([]);
});
