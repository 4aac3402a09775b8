import { expect, test } from "vitest";
import type { Place } from "../../../control/catalog/feature.ts";
import { resolveSettings } from "../../../control/catalog/settings.ts";
import { answerRewrite } from "../../../control/features/answer-rewrite.ts";
import { cookieDomain, cookiePath, redirectPair, settingPair, settingWord } from "../../../control/features/replacement.ts";

function outcome(own: Readonly<Record<string, string>>, config: Readonly<Record<string, string>> = {}, protocol = "HTTP") {
  const settings = resolveSettings(config, { kind: "ConfigMap", namespace: "default", name: "settings" }).values;
  const values: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(answerRewrite.rows)) {
    const parsed = own[name] === undefined ? undefined : row.kind.parse(own[name]);
    values[name] = parsed?.ok === true ? parsed.value : undefined;
  }
  const place = { settings, protocol } as unknown as Place;
  return {
    document: answerRewrite.build?.(values as never, place)?.answerRewrite,
    fixed: answerRewrite.fixed?.(values as never, place).map((d) => ("args" in d ? [d.name, ...d.args].join(" ") : d)),
  };
}

const nothing = { document: undefined, fixed: [] };

test("plain texts share one profile", () => {
  const a = outcome({ "proxy-redirect-from": "http://a/", "proxy-redirect-to": "http://b/", "proxy-cookie-domain": ".a.test b.test" });
  const b = outcome({ "proxy-redirect-from": "http://c/", "proxy-redirect-to": "/d", "proxy-cookie-domain": "x y" });
  expect(a.fixed).toEqual([
    "proxy_redirect $sluice_redirect_from $sluice_redirect_to",
    "proxy_cookie_domain $sluice_cookie_domain_from $sluice_cookie_domain_to",
  ]);
  expect(b.fixed).toEqual(a.fixed);
  expect(a.document).toEqual({ redirect: { from: "http://a/", to: "http://b/" }, cookieDomain: { from: "a.test", to: "b.test" } });
});

test("from and to only act together", () => {
  expect(outcome({})).toEqual(nothing);
  expect(outcome({ "proxy-redirect-from": "http://a/" })).toEqual(nothing);
  expect(outcome({ "proxy-redirect-to": "http://a/" })).toEqual(nothing);
  expect(outcome({ "proxy-redirect-from": "default", "proxy-redirect-to": "http://a/" })).toEqual(nothing);
  expect(outcome({ "proxy-redirect-to": "/b" }, { "proxy-redirect-from": "/a" }).document).toEqual({ redirect: { from: "/a", to: "/b" } });
});

test("what equals the ConfigMap's needs no profile, off overrides it", () => {
  const config = { "proxy-redirect-from": "/a", "proxy-redirect-to": "/b", "proxy-cookie-path": "/x /y" };
  expect(outcome({}, config)).toEqual(nothing);
  expect(outcome({ "proxy-cookie-path": " /x   /y " }, config)).toEqual(nothing);
  expect(outcome({ "proxy-cookie-path": "off", "proxy-redirect-from": "off" }, config)).toEqual({
    document: undefined,
    fixed: ["proxy_redirect off", "proxy_cookie_path off"],
  });
});

test("an expression stands in nginx.conf, where PCRE takes it", () => {
  expect(outcome({ "proxy-cookie-path": "~/a. /b" })).toEqual({ document: undefined, fixed: ["proxy_cookie_path ~/a. /b"] });
  expect(outcome({ "proxy-redirect-from": "~?", "proxy-redirect-to": "/b" })).toEqual(nothing);
});

test("gRPC and FastCGI have no such directives", () => {
  for (const protocol of ["GRPC", "GRPCS", "FCGI"]) expect(outcome({ "proxy-cookie-path": "/a /b" }, {}, protocol)).toEqual(nothing);
});

test("pairs are off or two words", () => {
  for (const text of ["off", "a b", "~a.b c"]) expect(cookieDomain.parse(text).ok, text).toBe(true);
  for (const text of ["a", "a b c", "on", "a;b c", "$a b", "~? b", "a b\nc", '"a b'])
    expect(cookieDomain.parse(text).ok, JSON.stringify(text)).toBe(false);
  expect(cookiePath.parse("/a?b=c,d&e /").ok).toBe(true);
  expect(redirectPair("default", "/b")).toEqual({ kind: "off" });
});

test("the administrator's texts may hold variables that nginx knows, and groups of their expression", () => {
  for (const text of ["a $host", "~^(.+)$ $1.x", "~^(?<name>.+)$ $name", "off"]) expect(settingPair.parse(text).ok, text).toBe(true);
  for (const text of ["a $nobody", "~^(.+)$ $name", "$nobody b", "~( b", "a"]) expect(settingPair.parse(text).ok, text).toBe(false);
  for (const text of ["off", "http://$host/", "~^http://(.+)$", "/$1"]) expect(settingWord.parse(text).ok, text).toBe(true);
  for (const text of ["a b", "http://$nobody/", "~(", "$", ""]) expect(settingWord.parse(text).ok, text).toBe(false);
});
