/** A node stand-in: binds every pod to itself, runs its one container as local processes, tells its status. */

import { mkdirSync } from "node:fs";
import type { Server } from "node:https";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { KubeConfig } from "@kubernetes/client-node";
import { systemClock } from "../../control/run/clock.ts";
import { createLogger } from "../../control/run/logger.ts";
import { type ApiServer, connectApiServer } from "../../control/source/api-server.ts";
import { defaultWatchLimits, Reflector } from "../../control/source/reflector.ts";
import { startKubelet } from "./kubelet.ts";
import { type Images, type PodPlace, type PodProcess, type RawPod, startPodProcess } from "./pod-process.ts";

const address = "10.0.0.1";
const kubeletPort = 10250;

export interface NodeOptions {
  readonly config: KubeConfig;
  readonly images: Images;
  readonly logs: string;
  /** For what pods mount. */
  readonly folder: string;
  /** The CA of the API server, and its port. */
  readonly authority: string;
  readonly apiPort: number;
}

export class NodeStandIn {
  readonly #api: ApiServer;
  readonly #place: PodPlace;
  readonly #pods = new Map<string, PodProcess>();
  readonly #starts = new Map<string, Promise<PodProcess>>();
  readonly #ending = new Set<string>();
  readonly #reflector: Reflector;
  #kubelet: Server | undefined;
  #addresses = 0;
  #stopped = false;
  #following: Promise<void> = Promise.resolve();

  constructor({ config, ...rest }: NodeOptions) {
    this.#api = connectApiServer(config);
    this.#place = { ...rest, api: this.#api };
    for (const folder of [rest.logs, rest.folder]) mkdirSync(folder, { recursive: true });
    this.#reflector = new Reflector({
      label: "pods",
      path: "/api/v1/pods",
      query: {},
      api: this.#api,
      logger: createLogger(0, { write: () => undefined }),
      clock: systemClock,
      backoff: { minMs: 50, maxMs: 500, healthyMs: 10_000 },
      resyncMs: 0,
      limits: defaultWatchLimits,
      sink: {
        upsert: (raw) => void this.#upsert(raw as unknown as RawPod).catch((error: Error) => this.#report(raw, error)),
        remove: (namespace, name) => this.#end(`${namespace}/${name}`),
        listed: () => undefined,
        refused: () => undefined,
      },
    });
  }

  async start(): Promise<void> {
    const status = {
      addresses: [
        { type: "InternalIP", address },
        { type: "ExternalIP", address: "203.0.113.1" },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
      // Commands come as websockets; otherwise the API server speaks SPDY.
      declaredFeatures: ["ExtendWebSocketsToKubelet"],
    };
    await this.#api.send("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "node-1" }, status });
    this.#kubelet = await startKubelet(address, kubeletPort, (key) => this.#pods.get(key));
    this.#following = this.#reflector.run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#reflector.stop();
    for (const key of [...this.#pods.keys()]) this.#end(key);
    this.#kubelet?.closeAllConnections();
    this.#kubelet?.close();
    await this.#following;
    this.#api.close();
  }

  pid(key: string): number {
    return this.#pods.get(key)!.child.pid!;
  }

  /** Where the pod's ports are. */
  ip(key: string): string {
    return this.#pods.get(key)!.ip;
  }

  #report(raw: object, error: Error): void {
    const { namespace, name } = (raw as RawPod).metadata;
    // Statuses of pods that are gone meanwhile, and of a server that is down, are told again or not needed.
    if (!this.#stopped && !/answered (404|409)|ECONN|socket/.test(error.message))
      console.error(`pod ${namespace}/${name}: ${error.message}`);
  }

  async #upsert(pod: RawPod): Promise<void> {
    const { name, namespace, deletionTimestamp } = pod.metadata;
    const key = `${namespace}/${name}`;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    if (deletionTimestamp !== undefined) {
      if (this.#ending.has(key)) return;
      this.#ending.add(key);
      await this.#starts.get(key);
      await this.#terminate(pod, path).finally(() => this.#ending.delete(key));
      return;
    }
    if (pod.spec.nodeName === undefined) {
      const target = { apiVersion: "v1", kind: "Node", name: "node-1" };
      await this.#api.send("POST", `${path}/binding`, { apiVersion: "v1", kind: "Binding", metadata: { name }, target });
      return;
    }
    if (this.#pods.has(key) || this.#starts.has(key)) return;
    const start = this.#run(pod, path);
    this.#starts.set(key, start);
    const running = await start.finally(() => this.#starts.delete(key));
    this.#pods.set(key, running);
    await this.#answering(running, pod);
    if (!running.ended) await this.#tell(path, pod, running, "Running");
  }

  async #run(pod: RawPod, path: string): Promise<PodProcess> {
    this.#addresses += 1;
    const ip = `10.244.${Math.floor(this.#addresses / 250) + 1}.${(this.#addresses % 250) + 1}`;
    const running = await startPodProcess(pod, ip, this.#place);
    running.child.once("exit", (code) => {
      // A kubelet would start one that crashed again; here a crash is the end of the pod.
      const phase = code === 0 ? "Succeeded" : "Failed";
      if (!this.#stopped) void this.#tell(path, pod, running, phase).catch((error: Error) => this.#report(pod, error));
    });
    return running;
  }

  /** Until it is ready, by its probe or by its first port. */
  async #answering(running: PodProcess, pod: RawPod): Promise<void> {
    const { ports, readinessProbe } = pod.spec.containers[0]!;
    const probe = readinessProbe?.httpGet;
    const port = probe?.port ?? ports?.[0]?.containerPort;
    const ready = () => (probe === undefined ? accepts(running.ip, port!) : isOk(`http://${running.ip}:${port}${probe.path}`));
    while (port !== undefined && !running.ended && !(await ready())) await pause(20);
  }

  async #tell(path: string, pod: RawPod, running: PodProcess, phase: "Running" | "Succeeded" | "Failed"): Promise<void> {
    const ready = phase === "Running";
    const now = new Date().toISOString();
    const { name, image } = pod.spec.containers[0]!;
    const exitCode = running.child.exitCode ?? 1;
    const state = ready ? { running: { startedAt: now } } : { terminated: { exitCode } };
    const status = {
      phase,
      hostIP: address,
      podIP: running.ip,
      podIPs: [{ ip: running.ip }],
      startTime: now,
      conditions: ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map((type) => ({
        type,
        status: ready ? "True" : "False",
        lastTransitionTime: now,
      })),
      containerStatuses: [{ name, image, imageID: image, ready, restartCount: 0, state }],
    };
    await this.#api.send("PATCH", `${path}/status`, { status });
  }

  async #terminate(pod: RawPod, path: string): Promise<void> {
    const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
    const running = this.#pods.get(key);
    if (running !== undefined && !running.ended) {
      const gone = new Promise<void>((done) => running.child.once("exit", () => done()));
      const timer = setTimeout(() => running.signal("SIGKILL"), (pod.metadata.deletionGracePeriodSeconds ?? 30) * 1000);
      const hook = pod.spec.containers[0]!.lifecycle?.preStop?.exec;
      if (hook !== undefined) await Promise.race([gone, new Promise((done) => running.exec(hook.command).once("exit", done))]);
      running.signal("SIGTERM");
      await gone;
      clearTimeout(timer);
    }
    this.#pods.delete(key);
    await this.#api.send("DELETE", path, { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0 });
  }

  #end(key: string): void {
    const running = this.#pods.get(key);
    if (running !== undefined && !running.ended) running.signal("SIGKILL");
    this.#pods.delete(key);
  }
}

async function isOk(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ host, port });
    socket.once("connect", () => {
      socket.destroy();
      done(true);
    });
    socket.once("error", () => done(false));
  });
}
