/** A controller whose cluster is a double of the API server, and two apps with pods. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { get } from "./client.ts";
import { Controller, eventually } from "./controller.ts";
import { FakeApi, type Raw } from "./fake-api.ts";
import type { KubeObject } from "./fixtures/objects.ts";
import { endpointSlices, ingress, ingressClass, service } from "./manifests.ts";
import { type Pods, startPods } from "./pods.ts";

/** Where the double keeps objects of a kind. */
export const collections = {
  IngressClass: "/apis/networking.k8s.io/v1/ingressclasses",
  Ingress: "/apis/networking.k8s.io/v1/ingresses",
  Service: "/api/v1/services",
  EndpointSlice: "/apis/discovery.k8s.io/v1/endpointslices",
  ConfigMap: "/api/v1/configmaps",
  Pod: "/api/v1/pods",
  Event: "/api/v1/events",
  Lease: "/apis/coordination.k8s.io/v1/leases",
} as const;

export class FakedCluster {
  readonly api = new FakeApi();
  readonly #folder = mkdtempSync(join(tmpdir(), "sluice-api-"));
  readonly #pods: Pods;
  #controller: Controller | undefined;

  private constructor(pods: Pods) {
    this.#pods = pods;
  }

  /** With steady.test served by app-a; app-b is there, too. */
  static async create(): Promise<FakedCluster> {
    const cluster = new FakedCluster(await startPods({ "app-a": 2, "app-b": 2 }));
    await cluster.api.listen();
    cluster.put(ingressClass, ingress("steady", { host: "steady.test", paths: { "/": "app-a" } }));
    for (const app of ["app-a", "app-b"]) cluster.put(service(app), ...endpointSlices(app, cluster.#pods.of(app)));
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "sluice-0", namespace: "default" } };
    cluster.put(pod);
    return cluster;
  }

  get controller(): Controller {
    if (this.#controller === undefined) throw new Error("there is no controller yet");
    return this.#controller;
  }

  put(...objects: readonly KubeObject[]): void {
    for (const object of objects) {
      const { metadata } = object;
      const stamped = { creationTimestamp: "2026-01-01T00:00:00Z", uid: `${object.kind}-${metadata.name}`, ...metadata };
      this.api.put(collections[object.kind as keyof typeof collections], { ...object, metadata: stamped } as unknown as Raw);
    }
  }

  /** The controller is the pod default/sluice-0. */
  async prepare(...flags: readonly string[]): Promise<Controller> {
    const config = {
      clusters: [{ name: "double", cluster: { server: this.api.url } }],
      users: [{ name: "pod", user: { tokenFile: "token" } }],
      contexts: [{ name: "pod", context: { cluster: "double", user: "pod" } }],
      "current-context": "pod",
    };
    const file = join(this.#folder, "kubeconfig");
    writeFileSync(file, JSON.stringify(config));
    writeFileSync(join(this.#folder, "token"), "first");
    const publish = "--publish-status-address=198.51.100.1";
    this.#controller = await Controller.create(["--manifests=", `--kubeconfig=${file}`, publish, "--election-ttl=4s", ...flags]);
    return this.#controller;
  }

  async start(...flags: readonly string[]): Promise<Controller> {
    const controller = await this.prepare(...flags);
    await controller.start();
    return controller;
  }

  async serves(host: string, app: string): Promise<void> {
    const { http } = this.controller.ports;
    await eventually(`${host} is served by ${app}`, async () => (await get({ port: http, host })).app === app);
  }

  async servesNot(host: string): Promise<void> {
    const { http } = this.controller.ports;
    await eventually(`${host} is gone`, async () => (await get({ port: http, host })).status === 404);
  }

  async stop(): Promise<void> {
    try {
      await this.#controller?.stop();
    } finally {
      await this.#pods.stop();
      await this.api.close();
      rmSync(this.#folder, { recursive: true });
    }
  }
}
