import { X509Certificate } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { selfSigned } from "../kit/certificates.ts";
import { type Call, get, type Reply } from "../kit/client.ts";
import { Controller } from "../kit/controller.ts";
import { startLoad } from "../kit/load.ts";
import { endpointSlices, ingress, ingressClass, service, tlsSecret } from "../kit/manifests.ts";
import { type Pods, startPods } from "../kit/pods.ts";

const first = selfSigned("first.test");
const second = selfSigned("second.test");

describe("a folder of manifests", () => {
  let controller: Controller;
  let pods: Pods;

  function ask(host: string, path = "/", more: Partial<Call> = {}): Promise<Reply> {
    return get({ port: more.tls === true ? controller.ports.https : controller.ports.http, host, path, ...more });
  }

  beforeAll(async () => {
    pods = await startPods({ "app-a": 4, "app-b": 3 }, true);
    controller = await Controller.create();
    controller.write("class.json", [ingressClass]);
    controller.write("app-a.json", [service("app-a"), ...endpointSlices("app-a", pods.of("app-a").slice(0, 2))]);
    controller.write("app-b.json", [service("app-b"), ...endpointSlices("app-b", pods.of("app-b"))]);
    // A canary belongs to the Service of its primary wherever that is used, so both have Services of their own.
    controller.write("canary.json", [
      ...[service("main"), ...endpointSlices("main", pods.of("app-a"))],
      ...[service("new"), ...endpointSlices("new", pods.of("app-b"))],
    ]);
    controller.write("hosts.json", [
      ingress("a", { host: "a.test", paths: { "/": "app-a" } }),
      ingress("b", { host: "b.test", paths: { "/": "app-b", "/a": "app-a" } }),
      ingress("main", { host: "canary.test" }),
      ingress("new", { host: "canary.test", annotations: { canary: "true", "canary-weight": "20" } }),
      ingress("first", { host: "first.test", paths: { "/": "app-a" }, tlsSecret: "first" }),
      ingress("second", { host: "second.test", paths: { "/": "app-b" }, tlsSecret: "second" }),
      tlsSecret("first", first.certificate, first.key),
      tlsSecret("second", second.certificate, second.key),
    ]);
    await controller.start();
  });

  afterAll(async () => {
    await controller?.stop();
    await pods?.stop();
  });

  test("each host and path reaches its app", async () => {
    expect((await ask("a.test")).app).toBe("app-a");
    expect((await ask("b.test", "/x")).app).toBe("app-b");
    expect((await ask("b.test", "/a/x")).app).toBe("app-a");
    expect((await ask("b.test", "/ax")).app).toBe("app-b");
  });

  test("every pod of a service answers", async () => {
    const seen = new Set<string | undefined>();
    for (let i = 0; i < 60; i++) seen.add((await ask("b.test")).pod);
    expect([...seen].sort()).toEqual(["app-b-1", "app-b-2", "app-b-3"]);
  });

  test("a host that nobody claims is answered 404", async () => {
    expect((await ask("unknown.test")).status).toBe(404);
  });

  test("a canary of weight 20 gets a fifth of 1,000 requests, five points more or less", async () => {
    const shares: Record<string, number> = {};
    const load = startLoad({
      calls: [{ port: controller.ports.http, host: "canary.test" }],
      judge: (reply) => {
        shares[reply.app ?? "none"] = (shares[reply.app ?? "none"] ?? 0) + 1;
        return reply.status === 200 ? undefined : `status ${reply.status}`;
      },
    });
    await load.more(1000);
    const { requests, failures } = await load.stop();
    expect(failures).toEqual({});
    expect(Object.keys(shares).sort()).toEqual(["app-a", "app-b"]);
    expect(shares["app-b"]! / requests).toBeGreaterThanOrEqual(0.15);
    expect(shares["app-b"]! / requests).toBeLessThanOrEqual(0.25);
  });

  test.each([
    ["first.test", first, "app-a"],
    ["second.test", second, "app-b"],
  ] as const)("%s shows its own certificate", async (host, made, app) => {
    const reply = await ask(host, "/", { tls: true });
    expect(reply.app).toBe(app);
    expect(reply.certificate?.fingerprint).toBe(new X509Certificate(made.certificate).fingerprint256);
  });

  test("a host without a certificate shows the default one", async () => {
    const reply = await ask("a.test", "/", { tls: true });
    expect(reply.status).toBe(200);
    expect(reply.certificate?.subject).toBe("Kubernetes Ingress Controller Fake Certificate");
  });

  test("moving a service to pods on another port needs no reload and loses no request", async () => {
    const moved = pods.of("app-a").slice(2);
    const before = await controller.state();
    const load = startLoad({ calls: [{ port: controller.ports.http, host: "a.test" }] });
    await load.more(200);
    await controller.apply("app-a.json", [service("app-a"), ...endpointSlices("app-a", moved)]);
    const answering = new Set<string | undefined>();
    for (let i = 0; i < 40; i++) answering.add((await ask("a.test")).pod);
    await load.more(200);
    const { failures } = await load.stop();
    expect(failures).toEqual({});
    expect([...answering].sort()).toEqual(moved.map((pod) => pod.name));
    const after = await controller.state();
    expect(after.reloads).toBe(before.reloads);
    expect(after.nginxPid).toBe(before.nginxPid);
  });
});
