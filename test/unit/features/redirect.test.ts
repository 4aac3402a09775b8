import { expect, test } from "vitest";
import type { Feature, Place } from "../../../control/catalog/feature.ts";
import { catalogueOf, resolveAnnotations } from "../../../control/catalog/resolve.ts";
import { resolveSettings } from "../../../control/catalog/settings.ts";
import { redirect, redirectStyle } from "../../../control/features/redirect.ts";
import { sslRedirect } from "../../../control/features/ssl-redirect.ts";
import type { Ingress } from "../../../control/source/kinds.ts";

const prefix = "nginx.ingress.kubernetes.io";
const catalogue = catalogueOf([redirect, sslRedirect] as unknown as Feature[]);
const { values: settings } = resolveSettings({}, { kind: "ConfigMap", namespace: "default", name: "settings" });

function resolve(own: Readonly<Record<string, string>>) {
  const annotations = Object.fromEntries(Object.entries(own).map(([name, text]) => [`${prefix}/${name}`, text]));
  const ingress = { metadata: { namespace: "default", name: "web", annotations } } as unknown as Ingress;
  return resolveAnnotations(ingress, settings, catalogue, { prefix, validate: true });
}

function built(own: Readonly<Record<string, string>>) {
  const { values, rejected } = resolve(own);
  return rejected === undefined ? redirect.build?.(values as never, {} as Place) : "rejected";
}

function permanent(code: string) {
  return built({ "permanent-redirect": "http://x.test", "permanent-redirect-code": code });
}

function temporal(url: string, code = "302") {
  return built({ "temporal-redirect": url, "temporal-redirect-code": code, "permanent-redirect": "/p" });
}

test("codes outside their range become the default, text is refused", () => {
  for (const [text, code] of [
    ["300", 300],
    ["308", 308],
    ["+303", 303],
    ["299", 301],
    ["309", 301],
    ["-1", 301],
  ] as const) {
    expect(permanent(text), text).toEqual({ redirect: { code, to: "http://x.test" } });
  }
  expect(temporal("http://t.test", "307")).toEqual({ redirect: { code: 307, to: "http://t.test" } });
  expect(temporal("http://t.test", "308")).toEqual({ redirect: { code: 302, to: "http://t.test" } });
  for (const text of ["3o1", "30.1", "0x12d"]) expect(permanent(text), text).toBe("rejected");
});

test("a temporal redirect that is no http URL switches the group off, with a notice", () => {
  for (const url of ["ftp://t.test/", "/path", "t.test/x", "http//t.test", "http://t.test:80a/", "http://t.test:x"]) {
    expect(temporal(url), url).toBeUndefined();
    const { values } = resolve({ "temporal-redirect": url, "relative-redirects": "true" });
    expect(redirectStyle(values), url).toBeUndefined();
    expect(redirect.notices?.(values as never, {} as Place), url).toHaveLength(1);
  }
  for (const url of ["HTTP://t.test", "https://t.test:8443/a:b?c=d:e", "http://t.test:/", "httpx://t"]) {
    expect(temporal(url), url).toEqual({ redirect: { code: 302, to: url } });
  }
});

test("text that could be more than a URL is refused", () => {
  for (const url of ["http://x.test; return 200", "http://x.test/$uri", 'http://x"', "http://x\\y", "http://x y", "http://x/{}", "a\nb"]) {
    expect(built({ "permanent-redirect": url }), JSON.stringify(url)).toBe("rejected");
  }
});

test("only a redirect to a path has a style", () => {
  const style = { "relative-redirects": "true", "use-port-in-redirects": "true" };
  expect(built({ ...style, "permanent-redirect": "/new" })).toEqual({
    redirect: { code: 301, to: "/new" },
    redirectStyle: { relative: true, port: true },
  });
  expect(built({ ...style, "permanent-redirect": "http://x.test" })).toEqual({ redirect: { code: 301, to: "http://x.test" } });
  expect(built(style)).toBeUndefined();
});
