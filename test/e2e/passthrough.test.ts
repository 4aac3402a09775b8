import { once } from "node:events";
import { chmodSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { connect, createServer, type Server } from "node:tls";
import { afterEach, beforeEach, expect, test } from "vitest";
import { freePorts } from "../../build/free-ports.ts";
import { selfSigned } from "../kit/certificates.ts";
import { Controller, eventually } from "../kit/controller.ts";
import type { KubeObject } from "../kit/fixtures/objects.ts";
import { ingress, ingressClass } from "../kit/manifests.ts";
import { withModulesBut } from "../kit/nginx-modules.ts";

const ownCertificate = "Kubernetes Ingress Controller Fake Certificate";

let controller: Controller;
/** They answer handshakes with certificates of their names. */
let one: Server;
let two: Server;

beforeEach(async () => {
  [one, two] = [await tlsServer("one.pod"), await tlsServer("two.pod")];
});

afterEach(async () => {
  await controller?.stop();
  for (const server of [one, two]) server.close();
});

async function tlsServer(name: string): Promise<Server> {
  const { certificate, key } = selfSigned(name);
  const server = createServer({ cert: certificate, key }, (socket) => {
    socket.on("error", () => undefined);
    socket.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** No kube-proxy here: the cluster address is the server's own. */
function backend(name: string, server: Server): KubeObject {
  const { port } = server.address() as AddressInfo;
  const ports = [{ name: "https", port, targetPort: port, protocol: "TCP" }];
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "default" },
    spec: { type: "ClusterIP", clusterIP: "127.0.0.1", ports },
  };
}

function host(name: string, passed: boolean): KubeObject {
  return ingress(name, { host: `${name}.test`, port: "https", annotations: passed ? { "ssl-passthrough": "true" } : {} });
}

async function start(...more: readonly string[]): Promise<void> {
  const [inner] = await freePorts(1);
  controller = await Controller.create([
    "--enable-ssl-passthrough",
    `--ssl-passthrough-proxy-port=${inner}`,
    "--sync-rate-limit=100",
    ...more,
  ]);
  // where others may go in, root's workers run as another user
  chmodSync(controller.dir, 0o755);
  controller.write("class.json", [ingressClass]);
  controller.write("a.json", [host("a", false), backend("a", one)]);
  controller.write("b.json", [host("b", true), backend("b", two)]);
  await controller.start();
}

/** Common name of the certificate that the https port shows for a server name. */
async function shownTo(servername: string): Promise<string> {
  const socket = connect({ port: controller.ports.https, host: "127.0.0.1", servername, rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const name = socket.getPeerCertificate().subject.CN as string;
  socket.destroy();
  return name;
}

async function shown(): Promise<readonly string[]> {
  return [await shownTo("a.test"), await shownTo("b.test"), await shownTo("other.test")];
}

test("hosts are passed through, led elsewhere and opened again without a reload", { timeout: 120_000 }, async () => {
  await start();
  expect(await shown()).toEqual([ownCertificate, "two.pod", ownCertificate]);
  const before = await controller.state();
  await controller.apply("a.json", [host("a", true), backend("a", one)]);
  expect(await shown()).toEqual(["one.pod", "two.pod", ownCertificate]);
  expect(await shownTo("A.Test")).toBe("one.pod");
  await controller.apply("a.json", [host("a", true), backend("a", two)]);
  expect(await shown()).toEqual(["two.pod", "two.pod", ownCertificate]);
  await controller.apply("a.json", [host("a", false), backend("a", one)]);
  await controller.apply("b.json", []);
  expect(await shown()).toEqual([ownCertificate, ownCertificate, ownCertificate]);
  const after = await controller.state();
  expect([after.reloads, after.nginxPid]).toEqual([before.reloads, before.nginxPid]);
});

test("just the connections that are passed through have lines in the log of streams", { timeout: 120_000 }, async () => {
  await start();
  await shown();
  await shown();
  await shownTo("b.test");
  await eventually("their lines are written", async () => streamLines() >= 3);
  expect(streamLines()).toBe(3);
});

function streamLines(): number {
  const log = readFileSync(join(controller.logDir, "access.log"), "utf8");
  return log.split("\n").filter((line) => line.includes("] TCP ")).length;
}

test("hosts stay passed through while the controller is away, and a new one goes on", { timeout: 120_000 }, async () => {
  await start();
  const before = await controller.state();
  await controller.kill();
  expect(await shown()).toEqual([ownCertificate, "two.pod", ownCertificate]);
  const wanted = controller.write("b.json", [host("b", false), backend("b", two)]);
  await controller.start();
  await controller.waitApplied(wanted);
  expect(await shown()).toEqual([ownCertificate, ownCertificate, ownCertificate]);
  expect((await controller.state()).nginxPid).toBe(before.nginxPid);
});

test("hosts are passed through again after a kill -9 of nginx", { timeout: 120_000 }, async () => {
  await start();
  await controller.killNginx();
  expect(await shown()).toEqual([ownCertificate, "two.pod", ownCertificate]);
});

test("without njs a change reloads", { timeout: 120_000 }, async () => {
  await withModulesBut("_js_", async (folder) => {
    await start(`--nginx-modules=${folder}`);
    expect(await shown()).toEqual([ownCertificate, "two.pod", ownCertificate]);
    const { reloads } = await controller.state();
    await controller.apply("a.json", [host("a", true), backend("a", one)]);
    expect(await shown()).toEqual(["one.pod", "two.pod", ownCertificate]);
    expect((await controller.state()).reloads).toBe(reloads + 1);
  });
});
