import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { get } from "../kit/client.ts";
import { Controller, eventually, type FindingReport } from "../kit/controller.ts";
import { endpointSlices, ingress, ingressClass, service, tlsSecret } from "../kit/manifests.ts";
import { type Pods, startPods } from "../kit/pods.ts";

let controller: Controller;
let pods: Pods;

beforeAll(async () => {
  pods = await startPods({ "app-a": 1, "app-b": 1 });
  controller = await Controller.create();
  controller.write("base.json", [
    ingressClass,
    ...["app-a", "app-b"].flatMap((app) => [service(app), ...endpointSlices(app, pods.of(app))]),
    ingress("good", { host: "good.test", paths: { "/": "app-a" } }),
  ]);
  await controller.start();
});

afterAll(async () => {
  await controller?.stop();
  await pods?.stop();
});

/** Every test ends with this: what has nothing to do with the mistake goes on, and takes changes. */
async function othersAreServed(mark: string): Promise<void> {
  expect((await get({ port: controller.ports.http, host: "good.test" })).app).toBe("app-a");
  await controller.apply("later.json", [ingress("later", { host: `${mark}.later.test`, paths: { "/": "app-b" } })]);
  expect((await get({ port: controller.ports.http, host: `${mark}.later.test` })).app).toBe("app-b");
}

async function finding(code: string, object: string): Promise<FindingReport> {
  const all = await controller.findings();
  const found = all.find((one) => one.code === code && one.object === object);
  if (found === undefined) throw new Error(`no ${code} about ${object} in ${JSON.stringify(all, null, 1)}`);
  expect(found.text).not.toBe("");
  return found;
}

describe("a mistake is reported with object, field and reason, and harms nobody else", () => {
  test("an Ingress whose Service is missing", async () => {
    await controller.apply("bad-service.json", [ingress("no-service", { host: "no-service.test", paths: { "/": "absent" } })]);
    const found = await finding("service-missing", "Ingress default/no-service");
    expect(found.at).toBe("spec.rules[0].http.paths[0].backend");
    expect(found.text).toContain("absent");
    expect((await get({ port: controller.ports.http, host: "no-service.test" })).status).toBe(503);
    await othersAreServed("service");
  });

  test("an Ingress whose port is missing", async () => {
    await controller.apply("bad-port.json", [ingress("no-port", { host: "no-port.test", paths: { "/": "app-a" }, port: 8123 })]);
    const found = await finding("port-missing", "Ingress default/no-port");
    expect(found.at).toBe("spec.rules[0].http.paths[0].backend");
    expect(found.text).toContain("8123");
    expect((await get({ port: controller.ports.http, host: "no-port.test" })).status).toBe(503);
    await othersAreServed("port");
  });

  test("an Ingress with a path that PCRE cannot read, for as long as it has it", async () => {
    const bad = (name: string) =>
      ingress(name, {
        host: `${name}.test`,
        paths: { "/a(": "app-a", "/good": "app-a" },
        pathType: "ImplementationSpecific",
        annotations: { "use-regex": "true" },
      });
    await controller.apply("bad-path.json", [bad("bad-path"), bad("other-path")]);
    for (const mark of ["path", "path-again"]) {
      const found = await finding("path-invalid", "Ingress default/bad-path");
      expect([found.at, found.text]).toEqual(["bad-path.test/a(", expect.stringContaining("pcre")]);
      expect((await get({ port: controller.ports.http, host: "bad-path.test", path: "/good" })).app).toBe("app-a");
      expect((await get({ port: controller.ports.http, host: "bad-path.test", path: "/a(" })).status).toBe(404);
      await othersAreServed(mark);
    }
    await controller.apply("bad-path.json", [bad("other-path")]);
    const left = (await controller.findings()).filter(({ code }) => code === "path-invalid");
    expect(left.map(({ object }) => object)).toEqual(["Ingress default/other-path"]);
    await controller.apply("bad-path.json", []);
    expect((await controller.findings()).filter(({ code }) => code === "path-invalid")).toEqual([]);
  });

  test("an Ingress whose Secret is missing is served with the default certificate", async () => {
    const options = { host: "no-secret.test", paths: { "/": "app-a" }, tlsSecret: "absent-secret" };
    await controller.apply("bad-secret.json", [ingress("no-secret", options)]);
    const found = await finding("secret-missing", "Ingress default/no-secret");
    expect(found.at).toBe("spec.tls[0].secretName");
    expect(found.text).toContain("absent-secret");
    const reply = await get({ port: controller.ports.https, host: "no-secret.test", tls: true });
    expect(reply.app).toBe("app-a");
    expect(reply.certificate?.subject).toBe("Kubernetes Ingress Controller Fake Certificate");
    await othersAreServed("secret");
  });

  test("a broken certificate", async () => {
    const broken = "-----BEGIN CERTIFICATE-----\nbm90IGEgY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n";
    await controller.apply("bad-certificate.json", [
      ingress("broken", { host: "broken.test", paths: { "/": "app-a" }, tlsSecret: "broken" }),
      tlsSecret("broken", broken, "not a key"),
    ]);
    const found = await finding("certificate-invalid", "Ingress default/broken");
    expect(found.at).toBe("spec.tls[0].secretName");
    expect(found.text).toMatch(/^Secret default\/broken: .{10,}/);
    const reply = await get({ port: controller.ports.https, host: "broken.test", tls: true });
    expect(reply.certificate?.subject).toBe("Kubernetes Ingress Controller Fake Certificate");
    await othersAreServed("certificate");
  });

  test("an annotation that does not parse", async () => {
    const annotations = { "proxy-read-timeout": "soon" };
    await controller.apply("bad-annotation.json", [ingress("soon", { host: "soon.test", paths: { "/": "app-a" }, annotations })]);
    const found = await finding("annotation-invalid", "Ingress default/soon");
    expect(found.at).toContain("proxy-read-timeout");
    expect(found.text).toContain("soon");
    await othersAreServed("annotation");
  });

  test("two Ingresses that claim one path: the older one is served", async () => {
    await controller.apply("conflict.json", [
      ingress("older", { host: "claimed.test", paths: { "/": "app-a" }, created: "2026-02-01T00:00:00Z" }),
      ingress("younger", { host: "claimed.test", paths: { "/": "app-b" }, created: "2026-03-01T00:00:00Z" }),
    ]);
    const found = await finding("path-conflict", "Ingress default/younger");
    expect(found.at).toContain("spec.rules[0]");
    expect(found.text).toContain("older");
    expect((await get({ port: controller.ports.http, host: "claimed.test" })).app).toBe("app-a");
    await othersAreServed("conflict");
  });

  test("a file that is no YAML keeps what it said before", async () => {
    await controller.apply("mended.yaml", [ingress("mended", { host: "mended.test", paths: { "/": "app-b" } })]);
    controller.writeText("mended.yaml", "kind: Ingress\nmetadata: { name: mended\nspec: ]\n");
    await eventually("the unreadable file is reported", async () =>
      (await controller.findings()).some((one) => one.code === "file-unreadable"),
    );
    const found = (await controller.findings()).find((one) => one.code === "file-unreadable");
    expect(`${found?.object} ${found?.at}`).toContain("mended.yaml");
    expect(`${found?.at} ${found?.text}`).toMatch(/line \d|:\d/);
    expect((await get({ port: controller.ports.http, host: "mended.test" })).app).toBe("app-b");
    await othersAreServed("yaml");
  });

  test("a mistake that was mended is no longer reported", async () => {
    await controller.apply("bad-service.json", [ingress("no-service", { host: "no-service.test", paths: { "/": "app-b" } })]);
    expect((await controller.findings()).filter((one) => one.object === "Ingress default/no-service")).toEqual([]);
    expect((await get({ port: controller.ports.http, host: "no-service.test" })).app).toBe("app-b");
  });
});
