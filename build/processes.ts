/** Starts the controller and demo pods as child processes: for npm start, the end-to-end tests and the benchmark. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { freePorts } from "./free-ports.ts";

const root = process.env.SLUICE_ROOT!;

export interface Ports {
  readonly http: number;
  readonly https: number;
  readonly healthz: number;
  readonly status: number;
  readonly defaultServer: number;
  readonly stream: number;
  readonly profiler: number;
}

/** Free ports for a controller; those given are taken as they are. */
export async function controllerPorts(given: Partial<Ports> = {}): Promise<Ports> {
  const [http, https, healthz, status, defaultServer, stream, profiler] = await freePorts(7);
  const free = { http, https, healthz, status, defaultServer, stream, profiler } as Ports;
  return { ...free, ...given };
}

export interface ControllerRun {
  readonly manifests: string;
  readonly runtimeDir: string;
  readonly logDir: string;
  readonly ports: Ports;
  /** namespace/name of the ConfigMap. */
  readonly configmap: string;
  readonly flags?: readonly string[];
}

/** The controller of dist/, in a process group of its own: a Ctrl-C at the terminal must not reach nginx before the controller. */
export function spawnController(run: ControllerRun, onLine: (line: string) => void): ChildProcess {
  const { ports } = run;
  const args = [
    resolve(root, "dist/nginx-ingress-controller.mjs"),
    `--manifests=${run.manifests}`,
    `--runtime-dir=${run.runtimeDir}`,
    `--log-dir=${run.logDir}`,
    `--http-port=${ports.http}`,
    `--https-port=${ports.https}`,
    `--healthz-port=${ports.healthz}`,
    `--status-port=${ports.status}`,
    `--default-server-port=${ports.defaultServer}`,
    `--stream-port=${ports.stream}`,
    `--profiler-port=${ports.profiler}`,
    `--configmap=${run.configmap}`,
    "--ingress-class=nginx",
    "--post-shutdown-grace-period=0",
    ...(run.flags ?? []),
  ];
  const env = { ...process.env, POD_NAME: "sluice-0", POD_NAMESPACE: run.configmap.split("/")[0] };
  const child = spawn(process.execPath, args, { detached: true, env, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout!, child.stderr!]) createInterface({ input: stream }).on("line", onLine);
  return child;
}

export interface Pod {
  readonly app: string;
  readonly name: string;
  readonly address: string;
  readonly port: number;
}

/** One process that serves all these pods and ends with us. Resolves when all listen. */
export async function spawnPods(pods: readonly Pod[]): Promise<ChildProcess> {
  const args = pods.map((pod) => `${pod.app}/${pod.name}@${pod.address}:${pod.port}`);
  const child = spawn(process.execPath, [resolve(root, "examples/pods.mjs"), ...args], { detached: true, stdio: ["pipe", "pipe", "pipe"] });
  let trouble = "";
  child.stderr!.on("data", (chunk: Buffer) => {
    trouble += chunk.toString();
  });
  const ready = once(child.stdout!, "data").then(() => true);
  const ended = once(child, "close").then(() => false);
  if (!(await Promise.race([ready, ended]))) throw new Error(`the demo pods did not start: ${trouble.trim()}`);
  return child;
}

/** Sends the signal and waits until the process is gone; after `patience` milliseconds it is killed. True when it went by itself. */
export async function end(child: ChildProcess, patience = 20_000): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return true;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  let byItself = true;
  const timer = setTimeout(() => {
    byItself = false;
    child.kill("SIGKILL");
  }, patience);
  await gone;
  clearTimeout(timer);
  return byItself;
}
