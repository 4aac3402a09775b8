import { describe, expect, test } from "vitest";
import { type AdmissionContext, checkIngress, type Verdict } from "../../../control/admission/check.ts";
import { annotationPrefix as prefix } from "../../kit/build-input.ts";
import { admissionContext as context, type Draft, ingress } from "./objects.ts";

function refusal(
  draft: Draft,
  stored: readonly Draft[] = [],
  data: Readonly<Record<string, string>> = {},
  more: Partial<AdmissionContext["options"]> = {},
): string | undefined {
  return checkIngress(ingress(draft), context(stored.map(ingress), data, more)).refusal;
}

function warnings(draft: Draft, data: Readonly<Record<string, string>> = {}): Verdict["warnings"] {
  return checkIngress(ingress(draft), context([], data)).warnings;
}

test("an ordinary Ingress is admitted without a warning", () => {
  const nothing = { profiles: new Map(), servers: new Map(), streams: new Map() };
  const { basis, ...checked } = checkIngress(ingress({}), context([]));
  expect(basis).toBeDefined();
  expect(checked).toEqual({ refusal: undefined, warnings: [], counted: true, tested: 1, parts: nothing, expressions: [] });
});

test("host and path of another Ingress are refused in any path type, namespace and case", () => {
  const first = { name: "first", age: 10 };
  expect(refusal({ name: "second" }, [first])).toBe('host "app.test" and path "/" is already defined in ingress default/first');
  expect(refusal({ name: "second", pathType: "Exact" }, [first])).toContain("default/first");
  expect(refusal({ name: "first", namespace: "other" }, [first])).toContain("default/first");
  expect(refusal({ name: "second", host: "APP.test" }, [first])).toContain("default/first");
  expect(refusal({ name: "second", path: "/deeper" }, [first])).toBeUndefined();
  expect(refusal({ name: "second", host: "else.test" }, [first])).toBeUndefined();
});

test("a prefix holds its path with and without a slash at the end", () => {
  const first = { name: "first", age: 10, path: "/foo" };
  expect(refusal({ name: "second", path: "/foo/" }, [first])).toContain('path "/foo/"');
  expect(refusal({ name: "second", path: "/foo/" }, [{ ...first, pathType: "Exact" }])).toBeUndefined();
  expect(refusal({ name: "second", path: "/foo/" }, [{ ...first, annotations: { [`${prefix}/use-regex`]: "true" } }])).toBeUndefined();
});

test("the catch-all's path belongs to whoever has a default backend or the empty host", () => {
  const all = { name: "first", age: 10, spec: { defaultBackend: { service: { name: "echo", port: { number: 80 } } } } };
  expect(refusal({ name: "second", host: "" }, [all])).toBe('host "_" and path "/" is already defined in ingress default/first');
  expect(refusal({ name: "second", host: "" }, [{ name: "first", host: "", age: 10 }])).toContain("default/first");
});

test("canaries may overlap; so may whoever carries the annotation", () => {
  const first = { name: "first", age: 10 };
  for (const value of ["true", "false", "what"]) {
    const annotations = { [`${prefix}/canary`]: value };
    expect(refusal({ name: "second", annotations }, [first]) ?? "").not.toContain("already defined");
  }
  expect(refusal({ name: "second" }, [{ ...first, annotations: { [`${prefix}/canary`]: "false" } }])).toBeUndefined();
});

test("an update does not collide with itself, and a younger Ingress in conflict does not lock the older one", () => {
  const old = { name: "first", age: 10 };
  expect(refusal(old, [old])).toBeUndefined();
  expect(refusal(old, [old, { name: "second" }])).toBeUndefined();
  expect(refusal({ name: "second" }, [old, { name: "second" }])).toContain("default/first");
});

test("an older Ingress cannot take over a path that a younger one serves", () => {
  const stored = [
    { name: "first", age: 10, path: "/own" },
    { name: "second", path: "/taken" },
  ];
  expect(refusal({ name: "first", age: 10, path: "/taken" }, stored)).toContain("default/second");
});

test("what other controllers own is let pass, and neither does it collide nor count", () => {
  const foreign = { className: "foreign", annotations: { [`${prefix}/configuration-snippet`]: "nonsense" }, path: "/a b" };
  const verdict = checkIngress(ingress(foreign), context([]));
  expect(verdict).toMatchObject({ refusal: undefined, counted: false, tested: 0 });
  expect(verdict.warnings).toEqual(["path /a b cannot be used with pathType Prefix"]);
  expect(refusal({ name: "second" }, [{ name: "first", className: "foreign", age: 10 }])).toBeUndefined();
});

test("a namespace that is not watched is let pass", () => {
  expect(refusal({ path: "/a b" }, [], {}, { watchNamespace: "other" })).toBeUndefined();
});

test("paths of Exact and Prefix are held to letters, digits and . _ - / unless the setting says otherwise", () => {
  for (const path of ["/a$b", "/a%20b", "/a+b", "/café", "relative"]) {
    expect(refusal({ path })).toContain(`path ${path} cannot be used with pathType Prefix`);
    expect(refusal({ path, pathType: "Exact" })).toContain("pathType Exact");
    expect(refusal({ path }, [], { "strict-validate-path-type": "false" })).toBeUndefined();
    expect(warnings({ path }, { "strict-validate-path-type": "false" })).toContain(`path ${path} cannot be used with pathType Prefix`);
  }
  expect(refusal({ path: "/a+b", pathType: "ImplementationSpecific" })).toBeUndefined();
  expect(refusal({ path: "" })).toBeUndefined();
});

test("dangerous text is refused unless deep inspection is off", () => {
  for (const path of ["/etc/passwd", "/x/etc/shadow", "/var/run/secrets/x", "/content_by_lua_block", "/a alias /x;"]) {
    expect(refusal({ path, pathType: "ImplementationSpecific" })).toContain("invalid value found");
  }
  const off = { annotations: { prefix, validate: true, deepInspect: false } };
  expect(refusal({ path: "/etc/passwd", pathType: "ImplementationSpecific" }, [], {}, off)).toBeUndefined();
});

test("values, words, risks and snippets that are not allowed are refused with the annotation's name", () => {
  const one = (name: string, value: string) => ({ annotations: { [`${prefix}/${name}`]: value } });
  expect(refusal(one("x-forwarded-prefix", "a;b"))).toContain(`${prefix}/x-forwarded-prefix`);
  expect(refusal(one("rewrite-target", "/forbidden"), [], { "annotation-value-word-blocklist": "x, forbidden" })).toContain('"forbidden"');
  expect(refusal(one("server-snippet", "# x"))).toContain("snippets are disabled");
  expect(refusal({ annotations: { "else.test/any-snippet": "x" } })).toContain("snippets are disabled");
  expect(refusal(one("server-snippet", "# x"), [], { "allow-snippet-annotations": "true" })).toContain("risk is critical");
});

test("with a prefix of its own the deployment refuses the common one", () => {
  const own = { annotations: { prefix: "mine.test", validate: true, deepInspect: true } };
  expect(refusal({ annotations: { [`${prefix}/app-root`]: "/x" } }, [], {}, own)).toContain("mine.test/");
  expect(refusal({ annotations: { "mine.test/x-forwarded-prefix": "a;b" } }, [], {}, own)).toContain("mine.test/x-forwarded-prefix");
});

test("a catch-all is refused where the flag forbids it, with rules as well", () => {
  const spec = { defaultBackend: { service: { name: "echo", port: { number: 80 } } } };
  expect(refusal({ spec }, [], {}, { disableCatchAll: true })).toContain("catch-all");
  expect(refusal({ spec }, [])).toBeUndefined();
});

test("the UID must be one", () => {
  expect(refusal({ uid: "../../etc" })).toContain("UID");
});

test("what is not served as meant is a warning", () => {
  expect(warnings({ annotations: { [`${prefix}/enable-influxdb`]: "true" } })[0]).toBe(
    `annotation ${prefix}/enable-influxdb is deprecated`,
  );
  expect(warnings({ annotations: { [`${prefix}/rewrite-tarrget`]: "/" } }).join()).toContain("did you mean rewrite-target");
  const missing = {
    spec: {
      rules: [
        { host: "a.test", http: { paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "no", port: { number: 1 } } } }] } },
      ],
    },
  };
  expect(warnings(missing).join()).toContain("no");
  expect(checkIngress(ingress(missing), context([])).refusal).toBeUndefined();
});

test("the build sees the hosts of the candidate only", () => {
  const many = Array.from({ length: 500 }, (_, i) => ({ name: `other-${i}`, host: `h${i}.test` }));
  expect(checkIngress(ingress({ name: "new" }), context(many.map(ingress))).tested).toBe(1);
  expect(checkIngress(ingress({ name: "new", host: "h7.test", path: "/x" }), context(many.map(ingress))).tested).toBe(2);
});

describe("an alias", () => {
  const high = { "annotations-risk-level": "High" };
  const aliased = (names: string) => ({ [`${prefix}/server-alias`]: names });
  const told = (draft: Draft, stored: readonly Draft[]) => checkIngress(ingress(draft), context(stored.map(ingress), high));

  test("that is another Ingress's host is told", () => {
    const { refusal, warnings, tested } = told({ host: "a.test", annotations: aliased("b.test, Other.Test") }, [
      { name: "other", host: "other.test", age: 10 },
    ]);
    expect({ refusal, tested }).toEqual({ refusal: undefined, tested: 2 });
    expect(warnings).toEqual(['metadata.annotations[server-alias]: "other.test" is a host of its own, which comes first']);
  });

  test("that another Ingress has already is told, by any spelling", () => {
    const first = { name: "first", host: "a.test", age: 10 };
    for (const [theirs, mine] of [
      ["x.test", "X.test"],
      ["x.test", ".x.test"],
      ["*.x.test", ".x.test"],
      ["~^v\\d+\\.test$", "~^v\\d+\\.test$"],
    ] as const) {
      const { warnings } = told({ host: "b.test", annotations: aliased(mine) }, [{ ...first, annotations: aliased(theirs) }]);
      expect(warnings.join()).toContain('leads to host "a.test" already');
    }
  });

  test("that a new host takes away is told to whoever takes it", () => {
    const first = { name: "first", host: "a.test", age: 10, annotations: aliased("taken.test") };
    expect(told({ host: "taken.test" }, [first]).warnings).toEqual([
      'Ingress default/first loses an alias: "taken.test" is a host of its own, which comes first',
    ]);
    expect(told({ host: "free.test" }, [first])).toMatchObject({ warnings: [], tested: 1 });
  });

  test("that a redirect from or to www has already is told", () => {
    const first = { name: "first", host: "a.test", age: 10, annotations: { [`${prefix}/from-to-www-redirect`]: "true" } };
    const { warnings } = told({ host: "b.test", annotations: aliased("www.a.test") }, [first]);
    expect(warnings.join()).toContain('"www.a.test" leads to host "a.test" already');
  });

  test("that is no longer there does not count", () => {
    const given = context([ingress({ name: "first", host: "a.test", annotations: aliased("x.test") })], high);
    given.objects.change([{ type: "upsert", object: ingress({ name: "first", host: "a.test" }) }]);
    expect(checkIngress(ingress({ host: "x.test" }), given)).toMatchObject({ warnings: [], tested: 1 });
  });
});

test("more annotations than the API server stores are refused before anything is made of them", () => {
  const long = { [`${prefix}/server-alias`]: Array.from({ length: 30_000 }, (_, i) => `alias${i}.test`).join() };
  expect(refusal({ annotations: long })).toContain("262144");
});

test("where classes cannot be read the class's name decides, and nobody else's Ingress is adopted", () => {
  const given = context([]);
  given.objects.change([{ type: "delete", kind: "IngressClass", namespace: "", name: "nginx" }]);
  expect(checkIngress(ingress({}), given).counted).toBe(false);
  given.objects.setReadable("IngressClass", false);
  expect(checkIngress(ingress({}), given).counted).toBe(true);
  expect(checkIngress(ingress({ className: "other" }), given).counted).toBe(false);
  given.objects.setReadable("IngressClass", true);
  expect(checkIngress(ingress({}), given).counted).toBe(false);
});
