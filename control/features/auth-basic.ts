/** Annotations: basic and digest authentication. */

import { feature, type Look, type Place, row } from "../catalog/feature.ts";
import { oneOf, pattern, type RefText, ref } from "../catalog/kinds.ts";
import { Private } from "../model/certificate.ts";
import type { Host } from "../model/model.ts";
import type { Secret } from "../source/kinds.ts";
import { isExempt } from "./no-auth.ts";

export const authBasic = feature({
  name: "auth-basic",
  rows: {
    "auth-type": row({
      kind: oneOf(["basic", "digest"]),
      default: undefined,
      risk: "low",
      onInvalid: "reject",
      guards: true,
      doc: "Asks for credentials of the users in auth-secret; auth-secret without it means basic. The upstream does not see them. Not on paths that start with an item of the ConfigMap's no-auth-locations.",
    }),
    "auth-secret": row({
      kind: ref,
      default: undefined,
      risk: "medium",
      onInvalid: "deny",
      guards: true,
      doc: "Secret with the users, of another namespace only with allow-cross-namespace-resources. Lines user:hash as htpasswd writes them (apr1, {SHA}, {SSHA}, {PLAIN}, and what the platform's libcrypt knows: bcrypt, MD5, SHA-256, SHA-512, yescrypt, DES), or user:realm:MD5 for digest.",
    }),
    "auth-secret-type": row({
      // what merely holds one of the words passed the old check and then denied the location; so it does here
      kind: pattern("auth-file | auth-map", /auth-file|auth-map/, "auth-map", "auth-json"),
      default: "auth-file",
      risk: "low",
      onInvalid: "reject",
      guards: true,
      doc: 'auth-file: the Secret\'s key "auth" holds the lines. auth-map: each key is a user, its value the hash.',
    }),
    "auth-realm": row({
      kind: pattern("text of letters, digits, spaces and - . _ ~ / :", /^[A-Za-z0-9\-._~/: ]*$/, "Staff only", 'a"b'),
      default: "",
      risk: "medium",
      onInvalid: "reject",
      doc: "Realm of the challenge.",
    }),
  },
  deny(v, place) {
    const type = v["auth-type"];
    const named = v["auth-secret"];
    if (named === undefined) {
      return type === undefined
        ? undefined
        : { annotation: "auth-type", code: "location-denied", reason: "it needs auth-secret, or nobody could pass" };
    }
    if (v["auth-secret-type"] !== "auth-file" && v["auth-secret-type"] !== "auth-map") {
      return { annotation: "auth-secret-type", code: "location-denied", reason: "it is neither auth-file nor auth-map" };
    }
    const { namespace, name } = fullName(named, place);
    const own = place.ingress.metadata.namespace;
    if (namespace !== own && !place.settings["allow-cross-namespace-resources"]) {
      const reason = `Secret ${namespace}/${name} is of another namespace`;
      return { annotation: "auth-secret", code: "reference-refused", reason };
    }
    const secret = place.look.secret(namespace, name);
    if (secret === undefined) {
      return { annotation: "auth-secret", code: "reference-missing", reason: `there is no Secret ${namespace}/${name}` };
    }
    if (v["auth-secret-type"] === "auth-file" && secret.data.auth === undefined) {
      return { annotation: "auth-secret", code: "reference-missing", reason: `Secret ${namespace}/${name} has no key "auth"` };
    }
    return undefined;
  },
  build(v, place) {
    const named = v["auth-secret"];
    if (named === undefined || isExempt(place)) return undefined;
    const { namespace, name } = fullName(named, place);
    return {
      authBasic: {
        users: `${namespace}/${name}:${v["auth-secret-type"]}`,
        realm: v["auth-realm"],
        ...(v["auth-type"] === "digest" ? { digest: true } : {}),
      },
    };
  },
});

function fullName(named: RefText, place: Place): { readonly namespace: string; readonly name: string } {
  return { namespace: named.namespace ?? place.ingress.metadata.namespace, name: named.name };
}

/** The user tables that routes of these hosts name, each once. */
export function usersNamed(hosts: readonly Host[], look: Look): Map<string, Private> {
  const out = new Map<string, Private>();
  for (const host of hosts) {
    for (const route of host.routes) {
      const id = route.features.authBasic?.users;
      if (id === undefined || out.has(id)) continue;
      const [, namespace = "", name = "", type = ""] = /^([^/]*)\/([^:]*):(.*)$/.exec(id) ?? [];
      const secret = look.secret(namespace, name);
      if (secret !== undefined) out.set(id, new Private(linesOf(secret, type)));
    }
  }
  return out;
}

function linesOf(secret: Secret, type: string): string {
  if (type === "auth-file") return secret.data.auth ?? "";
  return Object.entries(secret.data)
    .map(([user, hash]) => `${user}:${hash.trim().split("\n")[0] ?? ""}\n`)
    .join("");
}
