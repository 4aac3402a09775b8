/** Whatever annotations say, nginx takes the profiles that come of it: one bad value must not block everybody's changes. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { renderConf } from "../../control/apply/render.ts";
import { build } from "../../control/build/build.ts";
import type { AnyRow } from "../../control/catalog/feature.ts";
import { features } from "../../control/features/index.ts";
import { Objects } from "../../control/objects/objects.ts";
import type { Profile } from "../../control/plan/conf-view.ts";
import { printDirective } from "../../control/plan/directive.ts";
import { profileOf } from "../../control/plan/profiles.ts";
import type { KubeObject } from "../../control/source/source.ts";
import { buildOptions, objectOf, annotationPrefix as prefix } from "../kit/build-input.ts";
import { projectFiles, sampleConfView } from "../kit/conf-view.ts";
import { makeCertificate, moduleFiles } from "../kit/data-plane.ts";

const protocols = ["HTTP", "HTTPS", "GRPC", "FCGI"];
const rows = features.flatMap((feature) => Object.entries(feature.rows as unknown as Readonly<Record<string, AnyRow>>));

const texts = [
  ...[
    "0",
    "1",
    "-1",
    "2",
    "7",
    "100000",
    "2147483647",
    "99999999999",
    "1.5",
    "1.0",
    "1.1",
    "0k",
    "1k",
    "3k",
    "8k",
    "1m",
    "1g",
    "5b",
    "4096",
  ],
  ...["0s", "1ms", "1y", "60", "on", "off", "default", "true", "false", "error", "off error", "error timeout error", "non_idempotent"],
  ...[
    "http_500",
    "updating",
    "HTTP",
    "TLSv1.3",
    "SSLv3",
    "HIGH",
    "!aNULL",
    "a b",
    "a  b",
    "a b c",
    "/a /b",
    "~ b",
    "~? b",
    "~a? b",
    "~a ",
    "~",
  ],
  ...[
    "x",
    "/",
    "*",
    "http://x.test/",
    "https://x.test:1/a?b=c",
    "~http://x",
    "~?",
    "$host",
    "$sluice_no_such_variable",
    "$",
    "a$",
    "$" + "{host}",
  ],
  ...[
    '"',
    '";',
    "; return 200;",
    "{",
    "}",
    "a;b",
    "a{b}",
    "#",
    "\\",
    "'",
    "a\nb",
    "é",
    "a\tb",
    "%",
    "\u2028",
    "default/no-such",
    "GET",
    "get",
  ],
];

function ingresses(): KubeObject[] {
  const out: KubeObject[] = [];
  const beside = { "proxy-redirect-from": "http://a/", "proxy-redirect-to": "/b", "proxy-buffer-size": "8k" };
  for (const [name, row] of rows) {
    const own = row.kind.examples.filter((example) => example !== undefined);
    for (const text of new Set([...own, ...texts])) {
      for (const protocol of row.applies === "profile" ? protocols : ["HTTP"]) {
        const values = { "backend-protocol": protocol, ...(row.applies === "profile" ? beside : {}), [name]: text };
        const annotations = Object.fromEntries(Object.entries(values).map(([key, value]) => [`${prefix}/${key}`, value]));
        const metadata = { name: `i${out.length}`, namespace: "default", uid: `u${out.length}`, annotations };
        const backend = { service: { name: "echo", port: { number: 80 } } };
        const rules = [{ host: `h${out.length}.test`, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }];
        out.push(objectOf("Ingress", { metadata, spec: { ingressClassName: "nginx", rules } }));
      }
    }
  }
  return out;
}

function profilesOfAll(): ReadonlyMap<string, Profile> {
  const objects = new Objects();
  const service = { metadata: { name: "echo", namespace: "default" }, spec: { clusterIP: "10.0.0.1", ports: [{ port: 80 }] } };
  const all = [
    objectOf("IngressClass", { metadata: { name: "nginx" }, spec: { controller: "k8s.io/ingress-nginx" } }),
    objectOf("Service", service),
    ...ingresses(),
  ];
  objects.change(all.map((object) => ({ type: "upsert", object })));
  const { model } = build(objects, new Map(), buildOptions());
  const out = new Map<string, Profile>();
  for (const route of model.hosts.flatMap((host) => host.routes)) {
    const profile = profileOf(route);
    // rules of the firewall are files of the machine; each such profile is tested by itself before it is used
    const firewall = profile?.directives.some((d) => d.name.startsWith("modsecurity")) === true;
    if (profile !== undefined && !firewall) out.set(profile.id, profile);
  }
  return out;
}

let dir: string;
let certificate: { cert: string; key: string };
let profiles: ReadonlyMap<string, Profile>;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "sluice-refusals-"));
  mkdirSync(join(dir, "temp"));
  const { certFile: cert, keyFile: key } = makeCertificate(dir, "default.test");
  certificate = { cert, key };
  profiles = profilesOfAll();
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** nginx's complaint about a file with these profiles; "" when it has none. */
function complaint(some: readonly Profile[]): string {
  const modules = moduleFiles("ndk_http_module", "ngx_http_lua_module", "ngx_http_headers_more_filter_module");
  // nginx -t does not mind ports that are taken
  const ports = { http: 18081, https: 18082, status: 18083, defaultServer: 18084 };
  const view = sampleConfView({ runtimeDir: dir, ports, modules, certificate });
  const file = join(dir, "nginx.conf");
  writeFileSync(file, renderConf({ ...view, profiles: some }, projectFiles.templateDir).text);
  const run = spawnSync("nginx", ["-t", "-q", "-e", "stderr", "-p", dir, "-c", file], { encoding: "utf8" });
  return run.status === 0 ? "" : run.stderr;
}

/** Names of those that nginx refuses, found by halving. */
function refused(some: readonly Profile[]): string[] {
  const text = complaint(some);
  if (text === "") return [];
  if (some.length === 1) return [`${some[0]?.family}: ${some[0]?.directives.map(printDirective).join(" ")}: ${text}`];
  const half = some.length >> 1;
  return [...refused(some.slice(0, half)), ...refused(some.slice(half))];
}

test("nginx takes every profile that annotations make", () => {
  expect(profiles.size).toBeGreaterThan(100);
  expect(refused([...profiles.values()])).toEqual([]);
});

test("no text of an annotation becomes a directive or a variable of its own", () => {
  const known = new Set(["proxy_redirect", "proxy_cookie_domain", "proxy_cookie_path"]);
  for (const { directives, family } of profiles.values()) {
    for (const directive of directives) {
      const line = printDirective(directive);
      const bare = line.replace(/"(\\.|[^"\\])*"/g, "Q");
      expect(bare, line).toMatch(/^[a-z][a-z0-9_]*( [^\s;{}"'#\\$]+)*( \$[a-z_]+)*;$/);
      expect(line, `${family} ${line}`).not.toContain("no_such_variable");
      if (line.includes("$")) expect(known.has(directive.name) || line.includes("sluice"), line).toBe(true);
    }
  }
});
