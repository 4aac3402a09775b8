import { describe, expect, test } from "vitest";
import type { Feature, Place } from "../../../control/catalog/feature.ts";
import { catalogueOf, resolveAnnotations } from "../../../control/catalog/resolve.ts";
import { resolveSettings } from "../../../control/catalog/settings.ts";
import { authBasic, usersNamed } from "../../../control/features/auth-basic.ts";
import { ipAccess } from "../../../control/features/ip-access.ts";
import type { Host } from "../../../control/model/model.ts";
import type { Ingress, Secret } from "../../../control/source/kinds.ts";

const prefix = "nginx.ingress.kubernetes.io";
const catalogue = catalogueOf([authBasic as unknown as Feature, ipAccess as unknown as Feature]);

interface Draft {
  readonly annotations: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, string>>;
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly path?: string;
  readonly validate?: boolean;
}

function lookOf(secrets: Draft["secrets"]) {
  const secret = (namespace: string, name: string) => {
    const data = secrets?.[`${namespace}/${name}`];
    return data === undefined ? undefined : ({ data } as unknown as Secret);
  };
  return { secret, configMap: () => undefined, service: () => undefined };
}

/** What becomes of an Ingress "default/web" with these annotations. */
function outcome(draft: Draft) {
  const annotations = Object.fromEntries(Object.entries(draft.annotations).map(([name, text]) => [`${prefix}/${name}`, text]));
  const ingress = { metadata: { namespace: "default", name: "web", annotations } } as unknown as Ingress;
  const settings = resolveSettings(draft.settings ?? {}, { kind: "ConfigMap", namespace: "default", name: "settings" });
  const resolved = resolveAnnotations(ingress, settings.values, catalogue, { prefix, validate: draft.validate ?? true });
  const place = { ingress, path: draft.path ?? "/", settings: settings.values, look: lookOf(draft.secrets) } as unknown as Place;
  const denied = resolved.denied ?? authBasic.deny?.(resolved.values as never, place);
  if (resolved.rejected !== undefined) return "rejected";
  if (denied !== undefined) return { denied: denied.annotation, code: denied.code };
  return { ...authBasic.build?.(resolved.values as never, place), ...ipAccess.build?.(resolved.values as never, place) };
}

const secrets = { "default/users": { auth: "alice:{PLAIN}x\n" }, "other/users": { auth: "" }, "default/map": { bob: "hash" } };

describe("basic authentication", () => {
  test("users and realm are named; digest says so", () => {
    const annotations = { "auth-type": "basic", "auth-secret": "users", "auth-realm": "Staff only" };
    expect(outcome({ annotations, secrets })).toEqual({ authBasic: { users: "default/users:auth-file", realm: "Staff only" } });
    expect(outcome({ annotations: { ...annotations, "auth-type": "digest" }, secrets })).toMatchObject({ authBasic: { digest: true } });
    expect(outcome({ annotations: { "auth-secret": "default/map", "auth-secret-type": "auth-map" }, secrets })).toEqual({
      authBasic: { users: "default/map:auth-map", realm: "" },
    });
  });

  test.each([
    [{ "auth-type": "basic" }, { denied: "auth-type", code: "location-denied" }],
    [
      { "auth-type": "basic", "auth-secret": " " },
      { denied: "auth-type", code: "location-denied" },
    ],
    [
      { "auth-type": "basic", "auth-secret": "nobody" },
      { denied: "auth-secret", code: "reference-missing" },
    ],
    [
      { "auth-type": "basic", "auth-secret": "map" },
      { denied: "auth-secret", code: "reference-missing" },
    ],
    [
      { "auth-type": "basic", "auth-secret": "other/users" },
      { denied: "auth-secret", code: "reference-refused" },
    ],
    [
      { "auth-type": "basic", "auth-secret": "../etc/passwd" },
      { denied: "auth-secret", code: "location-denied" },
    ],
    [
      { "auth-secret": "users", "auth-secret-type": "xauth-map" },
      { denied: "auth-secret-type", code: "location-denied" },
    ],
  ])("%j denies", (annotations, expected) => {
    expect(outcome({ annotations, secrets })).toEqual(expected);
  });

  test.each<Readonly<Record<string, string>>>([
    { "auth-type": "Basic", "auth-secret": "users" },
    { "auth-type": "xbasic", "auth-secret": "users" },
    { "auth-secret": "users", "auth-secret-type": "map" },
    { "auth-secret": "users", "auth-realm": 'a"; return 200' },
    { "auth-secret": "users", "auth-realm": "a$remote_addr" },
  ])("%j refuses the Ingress; unchecked it denies or falls back, and never opens", (annotations) => {
    expect(outcome({ annotations, secrets })).toBe("rejected");
    const unchecked = outcome({ annotations, secrets, validate: false });
    expect(unchecked).toEqual(
      "auth-realm" in annotations
        ? expect.objectContaining({ authBasic: { users: "default/users:auth-file", realm: "" } })
        : expect.objectContaining({ denied: expect.any(String) }),
    );
  });

  test("another namespace's Secret needs allow-cross-namespace-resources", () => {
    const annotations = { "auth-type": "basic", "auth-secret": "other/users" };
    expect(outcome({ annotations, secrets, settings: { "allow-cross-namespace-resources": "true" } })).toEqual({
      authBasic: { users: "other/users:auth-file", realm: "" },
    });
  });

  test("paths that start with an item of no-auth-locations ask nobody", () => {
    const annotations = { "auth-type": "basic", "auth-secret": "users" };
    expect(outcome({ annotations, secrets, path: "/.well-known/acme-challenge/x" })).toEqual({});
    expect(outcome({ annotations, secrets, path: "/.well-known" })).toHaveProperty("authBasic");
    expect(outcome({ annotations, secrets, path: "/open", settings: { "no-auth-locations": "/x, /op" } })).toEqual({});
    expect(outcome({ annotations, secrets, path: "/open", settings: { "no-auth-locations": "" } })).toHaveProperty("authBasic");
  });

  test("each table is read once, a map as lines, and prints as [redacted]", () => {
    const host = (...users: string[]) =>
      ({ routes: users.map((id) => ({ features: { authBasic: { users: id, realm: "" } } })) }) as unknown as Host;
    const data = { "default/map": { alice: "one\n", bob: "two\nmallory:three" }, "default/users": { auth: "x:y" } };
    const tables = usersNamed(
      [host("default/map:auth-map", "default/map:auth-map"), host("default/users:auth-file", "default/gone:auth-file")],
      lookOf(data),
    );
    expect([...tables].map(([id, table]) => [id, table.reveal()])).toEqual([
      ["default/map:auth-map", "alice:one\nbob:two\n"],
      ["default/users:auth-file", "x:y"],
    ]);
    expect(`${tables.get("default/users:auth-file")} ${JSON.stringify([...tables])}`).not.toContain("x:y");
  });
});

describe("address lists", () => {
  test("lists of the Ingress go along, those of the ConfigMap are left to the general document", () => {
    const settings = { "whitelist-source-range": "10.0.0.0/8" };
    expect(outcome({ annotations: {}, settings })).toEqual({ ipAccess: {} });
    expect(outcome({ annotations: {} })).toEqual({});
    expect(outcome({ annotations: { "whitelist-source-range": "::1", "denylist-source-range": "1.2.3.4/8" }, settings })).toEqual({
      ipAccess: { allow: ["::1/128"], deny: ["1.2.3.4/8"] },
    });
  });

  test("the new name of the allow list counts before the old one", () => {
    const annotations = { "allowlist-source-range": "10.0.0.1", "whitelist-source-range": "garbage" };
    expect(outcome({ annotations })).toEqual({ ipAccess: { allow: ["10.0.0.1/32"] } });
  });

  test("satisfy any is told; anything else means all", () => {
    expect(outcome({ annotations: { satisfy: " any " } })).toEqual({ satisfy: { any: true } });
    expect(outcome({ annotations: { satisfy: "all" } })).toEqual({});
    expect(outcome({ annotations: { satisfy: "Any" } })).toEqual({});
  });

  test("a list that cannot be read denies", () => {
    for (const name of ["allowlist-source-range", "whitelist-source-range", "denylist-source-range"]) {
      expect(outcome({ annotations: { [name]: "10.0.0.0/8,x" } })).toMatchObject({ code: "location-denied" });
    }
  });
});
