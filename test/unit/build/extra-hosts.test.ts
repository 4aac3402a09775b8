import { expect, test } from "vitest";
import type { Accepted } from "../../../control/build/accept.ts";
import { extraHosts } from "../../../control/build/extra-hosts.ts";
import type { HostLocations } from "../../../control/build/ingress.ts";
import { resolveSettings } from "../../../control/catalog/settings.ts";
import { type Certificate, Private } from "../../../control/model/certificate.ts";
import type { Finding } from "../../../control/model/finding.ts";

const { values: settings } = resolveSettings({}, { kind: "ConfigMap", namespace: "default", name: "settings" });

function owner(name: string, values: Readonly<Record<string, unknown>>): Accepted {
  return { ref: { kind: "Ingress", namespace: "default", name }, annotations: { values } } as unknown as Accepted;
}

/** Hosts by name with their Ingresses, oldest first. */
function extra(hosts: Readonly<Record<string, readonly Accepted[]>>, certificates: Readonly<Record<string, readonly string[]>> = {}) {
  const findings: Finding[] = [];
  const all = Object.entries(hosts).map(([name, owners]): [string, HostLocations] => [
    name,
    { name, owners, first: owners[0], locations: [] },
  ]);
  const certificateOf = (host: string): Certificate | undefined => {
    const names = certificates[host];
    return names === undefined
      ? undefined
      : { id: `of-${host}`, chain: "", key: new Private(""), names, commonName: names[0] ?? "", notAfter: 0 };
  };
  const out = extraHosts({ hosts: new Map(all), certificateOf, settings, findings });
  return {
    names: Object.fromEntries(
      out.hosts.map((h) => [h.name, h.settings.aliasOf ?? `${h.settings.redirectTo?.code} ${h.settings.redirectTo?.host}`]),
    ),
    patterns: out.patterns.map((p) => `${p.pattern} ${p.host}`),
    certificates: Object.fromEntries(
      [...out.hosts.map((h) => [h.name, h.certificate]), ...out.patterns.map((p) => [p.pattern, p.certificate])].filter(
        ([, id]) => id !== undefined,
      ),
    ),
    findings: findings.map((f) => `${f.code} ${f.about.name}`),
  };
}

const alias = (...names: string[]) => ({ "server-alias": names });

test("the oldest list of a host counts, and hosts beat aliases", () => {
  const out = extra({
    "a.test": [owner("plain", {}), owner("first", alias("x.test", "b.test", "a.test", "x.test")), owner("second", alias("y.test"))],
    "b.test": [owner("third", alias("x.test", "z.test"))],
  });
  expect(out.names).toEqual({ "x.test": "a.test", "z.test": "b.test" });
  expect(out.findings).toEqual(["alias-conflict second", "alias-conflict first", "alias-conflict third"]);
});

test("patterns are tried as nginx tries them", () => {
  const out = extra({
    "a.test": [owner("a", alias("~^z", "*.x.test", "mail.*", ".both.test"))],
    "b.test": [owner("b", alias("~^a", "*.longer.x.test", "mail.longer.*"))],
  });
  expect(out.patterns).toEqual([
    "*.longer.x.test b.test",
    "*.both.test a.test",
    "*.x.test a.test",
    "mail.longer.* b.test",
    "mail.* a.test",
    "~^z a.test",
    "~^a b.test",
  ]);
  expect(out.names).toEqual({ "both.test": "a.test" });
});

test("what nginx would refuse as a name is left out and told", () => {
  for (const bad of ["a..b", "*", "*.", "a.*.b", "*.a.*", "~", "~(", "a$b", "-a.test", "a:80", "[::1]:80"]) {
    expect(extra({ "h.test": [owner("h", alias(bad, "good.test"))] }), bad).toMatchObject({
      names: { "good.test": "h.test" },
      patterns: [],
      findings: ["host-invalid h"],
    });
  }
  expect(extra({ "h.test": [owner("h", alias("UPPER.test.", "[::1]", "10.0.0.1"))] }).names).toEqual({
    "upper.test": "h.test",
    "[::1]": "h.test",
    "10.0.0.1": "h.test",
  });
});

test("www and bare names redirect, unless they are hosts; one Ingress of the host is enough", () => {
  const www = { "from-to-www-redirect": true };
  const out = extra({
    "": [owner("w", www)],
    "*.wild.test": [owner("w", www)],
    "a.test": [owner("plain", {}), owner("w", www)],
    "www.b.test": [owner("w", www)],
    "c.test": [owner("w", www)],
    "www.c.test": [owner("w", www)],
    "d.test": [owner("off", { ...www, "temporal-redirect": "ftp://x" })],
    "e.test": [owner("loser", alias("www.a.test"))],
  });
  expect(out.names).toEqual({ "www.a.test": "308 a.test", "b.test": "308 www.b.test" });
  expect(out.findings).toEqual(["alias-conflict loser"]);
});

test("a name has the host's certificate only where the certificate has the name", () => {
  const out = extra(
    { "a.test": [owner("a", { ...alias("in.test", "out.test", "*.wild.test", "~^re"), "from-to-www-redirect": true })] },
    { "a.test": ["a.test", "in.test", "*.wild.test", "www.a.test"] },
  );
  expect(out.certificates).toEqual({ "www.a.test": "of-a.test", "in.test": "of-a.test", "*.wild.test": "of-a.test" });
});
