import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Row } from "../../control/catalog/feature.ts";
import { features } from "../../control/features/index.ts";
import { get } from "../kit/client.ts";
import { Controller } from "../kit/controller.ts";
import { configMap, ingress, ingressClass, service } from "../kit/manifests.ts";
import { nastyText, seeded } from "../kit/nasty.ts";
import { asCreated, type ReviewVerdict, Webhook } from "../kit/webhook.ts";

const prefix = "nginx.ingress.kubernetes.io";
let webhook: Webhook;
let controller: Controller;

async function allow(snippets: boolean): Promise<void> {
  const data = { "allow-snippet-annotations": String(snippets), "annotations-risk-level": "Critical" };
  await controller.apply("settings.json", [ingressClass, configMap(data)]);
}

beforeAll(async () => {
  webhook = await Webhook.create();
  controller = await Controller.create(webhook.flags);
  controller.write("app.json", [service("app"), ingress("app", { host: "app.test", annotations: { "proxy-buffering": "on" } })]);
  controller.write("settings.json", [ingressClass]);
  await controller.start();
  await allow(true);
});

afterAll(async () => {
  await controller?.stop();
  webhook?.remove();
});

function review(annotations: Readonly<Record<string, string>>, host = "new.test"): Promise<ReviewVerdict> {
  return webhook.review(asCreated(ingress("new", { host, paths: { "/": "app" }, annotations })));
}

function trialFiles(): string[] {
  const dir = join(controller.runtimeDir, "private/trial");
  return existsSync(dir) ? readdirSync(dir) : [];
}

describe("text that nginx refuses is refused with its words and the annotation's name", () => {
  test.each([
    ["configuration-snippet", "add_header Only-A-Name;", 'invalid number of arguments in "add_header" directive'],
    ["configuration-snippet", 'set $a "$no_such_thing";', 'unknown "no_such_thing" variable'],
    ["server-snippet", "location /x { return 999999; }", "invalid return code"],
    ["server-snippet", "location ~ ( { return 200; }", "pcre"],
    ["stream-snippet", "server { listen 127.0.0.1:9; proxy_pass 127.0.0.1:9; proxy_timeout never; }", "proxy_timeout"],
  ])("%s: %s", async (name, text, words) => {
    const { allowed, message } = await review({ [name]: text });
    expect(allowed).toBe(false);
    expect(message).toContain(`annotation ${prefix}/${name}: nginx refuses what this Ingress asks for`);
    expect(message).toContain(words);
    expect(message).not.toContain("nginx.conf");
  });

  test("on the catch-all host, too, where the server-snippet stands in the locations", async () => {
    const { message } = await review({ "server-snippet": "return 999999;" }, "");
    expect(message).toContain(`annotation ${prefix}/server-snippet: nginx refuses`);
  });
});

describe("a regular expression that PCRE cannot read is refused with its words", () => {
  const regex = (path: string, more: Readonly<Record<string, string>> = {}) =>
    webhook.review(
      asCreated(
        ingress("new", {
          host: "new.test",
          paths: { [path]: "app" },
          pathType: "ImplementationSpecific",
          annotations: { "use-regex": "true", ...more },
        }),
      ),
    );

  test.each(["/a(", "/a[", "/x{2,1}", "/(?<n", "/a**"])("path %s", async (path) => {
    const { allowed, message } = await regex(path);
    expect([allowed, message]).toEqual([false, expect.stringContaining(`path ${path} is no regular expression: pcre`)]);
  });

  test("what JavaScript does not know and PCRE does is none of them", async () => {
    for (const path of ["/(?>a+)b", "/(?P<name>x)", "/(?i:A)", "/\\Qa\\E", "/a++"]) expect((await regex(path)).message).toBe("");
  });

  test("server-alias", async () => {
    const { allowed, message } = await regex("/", { "server-alias": "~^a\\p{Nope}" });
    expect([allowed, message]).toEqual([
      false,
      expect.stringContaining(`annotation ${prefix}/server-alias is no regular expression: pcre`),
    ]);
  });
});

test("good text is admitted, whatever else is refused", async () => {
  const snippets = {
    "configuration-snippet": "set $mine 1; if ($mine) { add_header X-A $host always; }",
    "server-snippet": "location /own { return 200 own; }",
    "stream-snippet":
      "upstream u { server 127.0.0.1:9; } server { listen 9999 udp reuseport; listen [::]:9999 ipv6only=on; proxy_pass u; }",
  };
  expect(await review(snippets)).toEqual({ allowed: true, message: "", warnings: [] });
});

test("a variable that another Ingress's snippet defines is no reason to refuse", async () => {
  const own = { "configuration-snippet": 'add_header X-Theirs "$of_another";' };
  expect((await review(own)).message).toContain("of_another");
  const defines = ingress("defines", {
    host: "d.test",
    paths: { "/": "app" },
    annotations: { "configuration-snippet": "set $of_another 1;" },
  });
  await controller.apply("defines.json", [defines]);
  expect(await review(own)).toMatchObject({ allowed: true });
});

describe("nginx is not shown what acts while it is only tested", () => {
  test.each([
    ["configuration-snippet", "error_log FILE;"],
    ["configuration-snippet", "access_log FILE;"],
    ["configuration-snippet", "client_body_temp_path FILE;"],
    ["configuration-snippet", "proxy_ssl_certificate_key engine:FILE:x;"],
    ["configuration-snippet", "include FILE;"],
    ["server-snippet", "if ($host) { set $a b\u00a0#;error_log FILE; add_header A\nB; }"],
    ["server-snippet", "ssl_certificate_key engine:FILE:x;"],
    ["server-snippet", "location /x { error_log FILE; }"],
    ["stream-snippet", "server { listen 127.0.0.1:9; proxy_pass 127.0.0.1:9; error_log FILE; }"],
    ["modsecurity-snippet", "SecAuditLog FILE"],
  ])("%s: %j", async (name, text) => {
    const file = join(controller.dir, "touched");
    const more: Record<string, string> = name === "modsecurity-snippet" ? { "enable-modsecurity": "true" } : {};
    const { message } = await review({ ...more, [name]: text.replace("FILE", file) });
    expect(existsSync(file)).toBe(false);
    expect(message).not.toContain(file);
  });

  test("and opens no file to tell of it", async () => {
    const { message } = await review({ "configuration-snippet": `include ${join(controller.runtimeDir, "private/fake.key")};` });
    expect(message).toBe("");
  });
});

test("nasty values of every annotation reach neither nginx nor anybody else, asked about or stored", async () => {
  const random = seeded(4);
  const rows = features.flatMap((feature) => Object.entries(feature.rows as Readonly<Record<string, Row<unknown>>>));
  const own = new Set(["configuration-snippet", "server-snippet", "stream-snippet", "modsecurity-snippet", "auth-snippet"]);
  const tried = rows.filter(([name]) => !own.has(name)).flatMap((row) => [row, row]);
  const nasty = tried.map(([name, { kind }], i) => {
    const annotations = { [name]: nastyText(random, kind.examples[0] ?? "x") };
    return asCreated(ingress(`nasty-${i}`, { host: `n${i}.test`, paths: { "/": "app" }, annotations }));
  });
  const verdicts = await Promise.all(nasty.map((object) => webhook.review(object)));
  expect(verdicts.filter((v) => v.allowed).length).toBeGreaterThan(20);
  expect(verdicts.filter((v) => !v.allowed).length).toBeGreaterThan(20);
  expect(verdicts.filter((v) => v.message.includes("nginx refuses"))).toEqual([]);
  await controller.apply("nasty.json", nasty);
  expect((await controller.findings()).filter((f) => f.code === "config-refused")).toEqual([]);
  expect((await get({ port: controller.ports.http, host: "app.test" })).status).toBe(503);
  expect(controller.log.filter((line) => /unhandled|cannot apply|request failed|webhook ended/.test(line))).toEqual([]);
  await controller.apply("nasty.json", []);
});

test("tests leave nothing behind and nginx as it was", async () => {
  const before = await controller.state();
  const conf = readFileSync(join(controller.runtimeDir, "private/nginx.conf"), "utf8");
  await review({ "configuration-snippet": "add_header X-Another 1;" });
  await review({ "configuration-snippet": "add_header X-Another;" });
  expect(trialFiles()).toEqual([]);
  expect(readFileSync(join(controller.runtimeDir, "private/nginx.conf"), "utf8")).toBe(conf);
  expect((await controller.state()).reloads).toBe(before.reloads);
  expect((await controller.findings()).filter((f) => f.code === "config-refused")).toEqual([]);
});

test("the finding about a stored one names the annotation, too", async () => {
  await controller.apply("bad.json", [
    ingress("bad", { host: "bad.test", paths: { "/": "app" }, annotations: { "server-snippet": "location ~ ( { return 200; }" } }),
  ]);
  const found = (await controller.findings()).find((f) => f.code === "config-refused");
  expect(found).toMatchObject({ object: "Ingress default/bad", at: "metadata.annotations[server-snippet]" });
  await controller.apply("bad.json", []);
});

test("snippets that are not allowed are refused before nginx is asked", async () => {
  await allow(false);
  const { allowed, message } = await review({ "configuration-snippet": "add_header Only-A-Name;" });
  expect({ allowed, message }).toEqual({ allowed: false, message: expect.stringContaining("disabled by the administrator") });
  await allow(true);
  expect((await review({ "configuration-snippet": "add_header Only-A-Name;" })).message).toContain("nginx refuses");
});
