/** examples/ in a cluster: what kubectl apply, edit and delete of its files do. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import type { Manifest } from "../helm/render.ts";
import { selfSigned } from "../kit/certificates.ts";
import { type Call, get, type Reply } from "../kit/client.ts";
import { eventually } from "./control-plane.ts";
import { type ControllerPod, World } from "./world.ts";

const world = new World();
const folder = resolve(process.env.SLUICE_ROOT!, "examples");
let pod: ControllerPod;
let pods: ChildProcess;

/** The examples' pods listen on loopback, which a cluster takes for no pod's address. */
function moved(text: string): string {
  return text.replaceAll(/\b127\.30\.(\d+)\./g, (_all, net: string) => `10.244.${200 + Number(net)}.`);
}

const files = readdirSync(folder)
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => ({ name, text: moved(readFileSync(resolve(folder, name), "utf8")) }));

function objects(kind: string): Manifest[] {
  const all = files.flatMap(({ text }) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));
  return all.filter((one) => one.kind === kind);
}

beforeAll(async () => {
  await world.start();
  pod = await world.startController(0, ["--publish-status-address=192.0.2.1"]);
  const listening = objects("EndpointSlice").flatMap((one) =>
    one.endpoints.map(
      ({ addresses, targetRef }: { readonly addresses: readonly string[]; readonly targetRef: { readonly name: string } }) => {
        return `${targetRef.name.replace(/-\d+$/, "")}/${targetRef.name}@${addresses[0]}:${one.ports[0].port}`;
      },
    ),
  );
  pods = spawn(process.execPath, [resolve(folder, "pods.mjs"), ...new Set<string>(listening)], { stdio: ["pipe", "pipe", "inherit"] });
  await once(pods.stdout!, "data");
  await world.mustKubectl(["create", "namespace", "demo"]);
}, 180_000);

afterAll(async () => {
  pods?.kill();
  await world.stop();
}, 60_000);

function ask(host: string, more: Partial<Call> = {}): Promise<Reply> {
  return get({ port: more.tls === true ? pod.httpPort + 1 : pod.httpPort, host, ...more });
}

async function app(host: string, path = "/"): Promise<string> {
  const { status, app: name } = await ask(host, { path });
  return name ?? String(status);
}

async function edit(kind: string, name: string, from: string, to: string): Promise<void> {
  await world.mustKubectl(["-n", "demo", "edit", kind, name], undefined, { KUBE_EDITOR: `sed -i 's#${from}#${to}#'` });
}

test("apply: every file is taken without a warning, every host is served", async () => {
  const { certificate, key } = selfSigned("secure.localhost");
  const data = { "tls.crt": Buffer.from(certificate).toString("base64"), "tls.key": Buffer.from(key).toString("base64") };
  const metadata = { name: "secure-localhost", namespace: "demo" };
  await world.mustApply({ apiVersion: "v1", kind: "Secret", type: "kubernetes.io/tls", metadata, data });
  for (const { name, text } of files) {
    const { code, err } = await world.kubectl(["apply", "--validate=strict", "-f", "-"], text);
    // The class is there already, made by other means.
    expect(err.replace(/^Warning: resource ingressclasses\/nginx is missing .*\n/, ""), name).toBe("");
    expect(code).toBe(0);
  }
  await eventually("a.localhost is served", async () => (await app("a.localhost")) === "app-a");
  await eventually("b.localhost is served", async () => (await app("b.localhost")) === "app-b");
  expect(await app("b.localhost", "/a")).toBe("app-a");
  await eventually("plain HTTP is sent on", async () => (await ask("secure.localhost")).status === 308);
  const secure = await ask("secure.localhost", { tls: true });
  expect([secure.status, secure.app, secure.certificate?.subject]).toEqual([200, "app-a", "secure.localhost"]);
  await eventually("both versions of canary.localhost are served", async () => {
    const apps = await Promise.all(Array.from({ length: 40 }, () => app("canary.localhost")));
    const canary = apps.filter((name) => name === "app-b").length;
    return apps.every((name) => /^app-[ab]$/.test(name)) && canary >= 4 && canary <= 12;
  });
  for (const { metadata: of } of objects("Ingress")) {
    await eventually(
      `the status of ${of.name} is written`,
      async () =>
        (await world.mustKubectl(["-n", "demo", "get", "ingress", of.name, "-o", "jsonpath={.status.loadBalancer.ingress[0].ip}"])) ===
        "192.0.2.1",
    );
  }
});

test("edit: a host, a weight, a path, the endpoints", async () => {
  await edit("ingress", "app-a", "a.localhost", "renamed.localhost");
  await eventually("the new name is served", async () => (await app("renamed.localhost")) === "app-a");
  await eventually("the old one is not", async () => (await app("a.localhost")) === "404");
  await edit("ingress", "shop-canary", "canary-weight:.*", 'canary-weight: "100"');
  await eventually("the canary gets all", async () => {
    const apps = await Promise.all(Array.from({ length: 20 }, () => app("canary.localhost")));
    return apps.every((name) => name === "app-b");
  });
  await edit("ingress", "app-b", "path: /a$", "path: /elsewhere");
  await eventually("the path has moved", async () => (await app("b.localhost", "/elsewhere")) === "app-a");
  expect(await app("b.localhost", "/a")).toBe("app-b");
  const seen = async () => new Set(await Promise.all(Array.from({ length: 30 }, async () => (await ask("b.localhost")).pod)));
  expect((await seen()).size).toBe(3);
  await edit("endpointslice", "app-b-1", "10.244.202.3", "10.244.202.2");
  await eventually("two pods are left", async () => (await seen()).size === 2);
});

test("delete: what is deleted is not served any more, what is not goes on", async () => {
  const remove = (name: string) => {
    const { text } = files.find((file) => file.name === name)!;
    return world.mustKubectl(["delete", "-f", "-"], text);
  };
  await remove("canary.yaml");
  await eventually("canary.localhost is gone", async () => (await app("canary.localhost")) === "404");
  expect(await app("b.localhost")).toBe("app-b");
  await remove("app-b.yaml");
  await eventually("b.localhost is gone", async () => (await app("b.localhost")) === "404");
  await world.mustKubectl(["-n", "demo", "delete", "secret", "secure-localhost"]);
  await eventually("without its Secret the host has the default certificate", async () => {
    const { status, certificate } = await ask("secure.localhost", { tls: true });
    return status === 200 && certificate?.subject !== "secure.localhost";
  });
  await remove("app-a.yaml");
  await eventually("without its Service there is no answer", async () => (await ask("secure.localhost", { tls: true })).status === 503);
  await remove("secure.yaml");
  await eventually("secure.localhost is gone", async () => (await ask("secure.localhost", { tls: true })).status === 404);
  await remove("class.yaml");
  expect(await world.mustKubectl(["-n", "demo", "get", "ingress,service,endpointslice", "-o", "name"])).toBe("");
});
