import { expect, test } from "vitest";
import { materialOf } from "../../../control/features/backend-tls.ts";
import { builtInProfiles, profileOf } from "../../../control/plan/profiles.ts";
import { selfSigned } from "../../../control/run/self-signed.ts";
import type { Secret } from "../../../control/source/kinds.ts";

function secret(data: Record<string, string>): Secret {
  return { kind: "Secret", metadata: { namespace: "default", name: "up" }, type: "Opaque", data } as unknown as Secret;
}

test("a Secret serves with an authority, with a pair, or with both; what does not fit is told", async () => {
  const [one, two] = [await selfSigned(), await selfSigned()];
  const both = materialOf(secret({ "ca.crt": one.certificate, "tls.crt": one.certificate, "tls.key": one.key }));
  expect(both).toMatchObject({ ca: { file: expect.stringMatching(/^[0-9a-f]{32}\.pem$/) }, pair: { chain: {}, key: {} } });
  expect(JSON.stringify(both)).not.toContain("BEGIN");
  expect(materialOf(secret({ "ca.crt": one.certificate }))).not.toHaveProperty("pair");
  expect(materialOf(secret({ "tls.crt": one.certificate }))).toContain("neither");
  expect(materialOf(secret({ "tls.crt": one.certificate, "tls.key": two.key }))).toContain("does not belong");
  expect(materialOf(secret({ "ca.crt": "nonsense" }))).toContain("no PEM certificate");
});

function profile(...fixed: { readonly name: string; readonly args: readonly string[] }[]) {
  return profileOf({ protocol: "HTTPS", fixed, target: { kind: "backend", backend: "a" } });
}

test("connections are shared by profiles with equal TLS settings only, and not kept under a varying name", () => {
  const tls = { name: "proxy_ssl_name", args: ["a.test"] };
  const buffered = { name: "proxy_buffering", args: ["on"] };
  expect(profile(tls)?.pool).toBeDefined();
  expect(profile(tls)?.pool).toBe(profile(tls, buffered)?.pool);
  expect(profile({ ...tls, args: ["b.test"] })?.pool).not.toBe(profile(tls)?.pool);
  expect(profile(buffered)?.pool).toBeUndefined();
  expect(profile({ ...tls, args: ["$host"] })).toMatchObject({ keepalive: false });
  expect(builtInProfiles().some((p) => p.pool !== undefined)).toBe(false);
});
