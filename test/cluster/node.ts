/** A node stand-in: binds every pod to itself, runs its one container as a local process, tells its status. */

import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, mkdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { KubeConfig } from "@kubernetes/client-node";
import { systemClock } from "../../control/run/clock.ts";
import { createLogger } from "../../control/run/logger.ts";
import { type ApiServer, connectApiServer } from "../../control/source/api-server.ts";
import { Reflector } from "../../control/source/reflector.ts";

export interface RawPod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
    readonly deletionGracePeriodSeconds?: number;
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly {
      readonly name: string;
      readonly image: string;
      readonly args?: readonly string[];
      readonly env?: readonly { readonly name: string; readonly value?: string }[];
      readonly ports?: readonly { readonly containerPort: number }[];
    }[];
  };
}

/** Image name → program and first arguments. */
export type Images = Readonly<Record<string, readonly string[]>>;

interface Running {
  readonly ip: string;
  readonly child: ChildProcess;
  ended: boolean;
}

export class NodeStandIn {
  readonly #api: ApiServer;
  readonly #images: Images;
  readonly #logs: string;
  readonly #pods = new Map<string, Running>();
  readonly #reflector: Reflector;
  #addresses = 0;
  #stopped = false;
  #following: Promise<void> = Promise.resolve();

  constructor(config: KubeConfig, images: Images, logs: string) {
    this.#api = connectApiServer(config);
    this.#images = images;
    this.#logs = logs;
    mkdirSync(logs, { recursive: true });
    this.#reflector = new Reflector({
      label: "pods",
      path: "/api/v1/pods",
      query: {},
      api: this.#api,
      logger: createLogger(0, { write: () => undefined }),
      clock: systemClock,
      backoff: { minMs: 50, maxMs: 500, healthyMs: 10_000 },
      sink: {
        upsert: (raw) => void this.#upsert(raw as unknown as RawPod).catch(() => undefined),
        remove: (namespace, name) => this.#end(`${namespace}/${name}`, "SIGKILL"),
        listed: () => undefined,
        refused: () => undefined,
      },
    });
  }

  async start(): Promise<void> {
    const addresses = [
      { type: "InternalIP", address: "10.0.0.1" },
      { type: "ExternalIP", address: "203.0.113.1" },
    ];
    await this.#api.send("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "node-1" }, status: { addresses } });
    this.#following = this.#reflector.run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#reflector.stop();
    for (const key of [...this.#pods.keys()]) this.#end(key, "SIGKILL");
    await this.#following;
    this.#api.close();
  }

  pid(key: string): number {
    return this.#pods.get(key)!.child.pid!;
  }

  async #upsert(pod: RawPod): Promise<void> {
    const { name, namespace, deletionTimestamp } = pod.metadata;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    if (deletionTimestamp !== undefined) {
      await this.#terminate(pod, path);
      return;
    }
    if (pod.spec.nodeName === undefined) {
      const target = { apiVersion: "v1", kind: "Node", name: "node-1" };
      await this.#api.send("POST", `${path}/binding`, { apiVersion: "v1", kind: "Binding", metadata: { name }, target });
      return;
    }
    const key = `${namespace}/${name}`;
    if (this.#pods.has(key)) return;
    this.#addresses += 1;
    const running = this.#spawn(pod, `10.244.${Math.floor(this.#addresses / 250) + 1}.${(this.#addresses % 250) + 1}`);
    this.#pods.set(key, running);
    await this.#listening(running, pod);
    if (!running.ended) await this.#tell(path, pod, running, true);
  }

  #spawn(pod: RawPod, ip: string): Running {
    const container = pod.spec.containers[0]!;
    const { name, namespace } = pod.metadata;
    const [program, ...first] = this.#images[container.image]!;
    const own = { POD_NAME: name, POD_NAMESPACE: namespace, POD_IP: ip };
    const set = Object.fromEntries((container.env ?? []).map((each) => [each.name, each.value ?? ""]));
    const child = spawn(program!, [...first, ...(container.args ?? [])], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...own, ...set },
    });
    const log = createWriteStream(join(this.#logs, `${namespace}-${name}.log`), { flags: "a" });
    child.stdout.pipe(log);
    child.stderr.pipe(log);
    const running: Running = { ip, child, ended: false };
    child.once("exit", () => {
      running.ended = true;
      // A kubelet would start it again; here a crash is the end of the pod.
      const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
      if (!this.#stopped) void this.#tell(path, pod, running, false).catch(() => undefined);
    });
    return running;
  }

  async #listening(running: Running, pod: RawPod): Promise<void> {
    const port = pod.spec.containers[0]!.ports?.[0]?.containerPort;
    while (port !== undefined && !running.ended && !(await accepts(running.ip, port))) await pause(20);
  }

  async #tell(path: string, pod: RawPod, running: Running, ready: boolean): Promise<void> {
    const state = ready ? "True" : "False";
    const now = new Date().toISOString();
    const { name, image } = pod.spec.containers[0]!;
    const status = {
      phase: ready ? "Running" : "Failed",
      podIP: running.ip,
      podIPs: [{ ip: running.ip }],
      startTime: now,
      conditions: ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map((type) => ({
        type,
        status: state,
        lastTransitionTime: now,
      })),
      containerStatuses: [{ name, image, imageID: image, ready, restartCount: 0, state: ready ? { running: { startedAt: now } } : {} }],
    };
    await this.#api.send("PATCH", `${path}/status`, { status });
  }

  async #terminate(pod: RawPod, path: string): Promise<void> {
    const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
    const running = this.#pods.get(key);
    if (running !== undefined && !running.ended) {
      const gone = new Promise<void>((done) => running.child.once("exit", () => done()));
      running.child.kill("SIGTERM");
      const timer = setTimeout(() => running.child.kill("SIGKILL"), (pod.metadata.deletionGracePeriodSeconds ?? 30) * 1000);
      await gone;
      clearTimeout(timer);
    }
    this.#pods.delete(key);
    await this.#api.send("DELETE", path, { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0 });
  }

  #end(key: string, signal: NodeJS.Signals): void {
    const running = this.#pods.get(key);
    if (running !== undefined && !running.ended) running.child.kill(signal);
    this.#pods.delete(key);
  }
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
