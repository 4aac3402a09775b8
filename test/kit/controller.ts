/** A real controller with a real nginx on free ports, its manifests in a folder of its own. */

import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { controllerPorts, end, type Ports, spawnController } from "../../build/processes.ts";
import type { KubeObject } from "./fixtures/objects.ts";
import { childrenOf, isAlive, workersOf } from "./worker-processes.ts";

/** What GET /state tells, as far as tests use it. */
export interface ControllerState {
  readonly synced: boolean;
  readonly version: number;
  readonly reloads: number;
  readonly reloadReasons: readonly { readonly reason: string; readonly ok: boolean }[];
  /** How TCP and UDP services learn of endpoints. */
  readonly streamEndpoints: "live" | "reload";
  readonly nginxPid: number;
}

export interface FindingReport {
  readonly code: string;
  readonly severity: string;
  readonly object: string;
  readonly at: string;
  readonly text: string;
  readonly hint: string;
}

const patienceMs = 60_000;

/** Objects created first: stable times make "the oldest wins" decide the same way each time. */
const creationTimestamp = "2026-01-01T00:00:00Z";

export class Controller {
  readonly dir: string;
  readonly manifests: string;
  readonly ports: Ports;
  readonly log: string[] = [];
  private readonly flags: readonly string[];
  private process: ChildProcess | undefined;
  private lastVersion = 0;
  private lastNginx = 0;
  /** File → keys of the objects in it, so that a rewritten file tells what is gone. */
  private readonly contents = new Map<string, ReadonlySet<string>>();

  private constructor(ports: Ports, flags: readonly string[]) {
    this.dir = mkdtempSync(resolve(tmpdir(), "sluice-test-"));
    this.manifests = resolve(this.dir, "manifests");
    this.ports = ports;
    this.flags = flags;
    mkdirSync(this.manifests);
    mkdirSync(this.logDir);
  }

  static async create(flags: readonly string[] = []): Promise<Controller> {
    return new Controller(await controllerPorts(), flags);
  }

  get runtimeDir(): string {
    return resolve(this.dir, "run");
  }

  get logDir(): string {
    return resolve(this.dir, "log");
  }

  get pid(): number {
    if (this.process?.pid === undefined) throw new Error("the controller does not run");
    return this.process.pid;
  }

  /** Starts the process and waits until it serves what the folder holds. */
  async start(): Promise<void> {
    const { manifests, runtimeDir, logDir, ports, flags } = this;
    const run = { manifests, runtimeDir, logDir, ports, configmap: "default/sluice", flags };
    const child = spawnController(run, (line) => this.log.push(line));
    this.process = child;
    await eventually("the controller is healthy and synced", async () => {
      if (child.exitCode !== null || child.signalCode !== null) throw new Ended(`the controller ended: ${this.log.slice(-20).join("\n")}`);
      const healthy = (await fetch(this.url("/healthz"))).ok;
      return healthy && (await this.state()).synced;
    }).catch((error: Error) => {
      throw new Error(`${error.message}\n${this.log.slice(-30).join("\n")}`, { cause: error.cause });
    });
  }

  async stop(): Promise<void> {
    const byItself = this.process === undefined || (await end(this.process));
    // Only a controller that failed its test leaves one behind.
    if (this.lastNginx > 0 && isAlive(this.lastNginx)) process.kill(this.lastNginx, "SIGTERM");
    rmSync(this.dir, { recursive: true, force: true });
    if (!byItself) throw new Error(`the controller had to be killed: ${this.log.slice(-20).join("\n")}`);
  }

  /** kill -9 of the controller alone; nginx is another process. */
  async kill(): Promise<void> {
    const child = this.process!;
    const gone = new Promise((done) => child.once("exit", done));
    child.kill("SIGKILL");
    await gone;
  }

  /** kill -9 of the nginx master; resolves when another one has taken its place and the workers that it left are gone. */
  async killNginx(): Promise<void> {
    const { nginxPid } = await this.state();
    const orphans = childrenOf(nginxPid);
    process.kill(nginxPid, "SIGKILL");
    await eventually("another nginx runs", async () => {
      const state = await this.state();
      return state.nginxPid !== nginxPid && state.nginxPid > 0 && workersOf(state.nginxPid).length > 0;
    });
    await eventually("the orphaned workers are gone", () => orphans.every((pid) => !isAlive(pid)));
  }

  /** Makes the file hold exactly these objects, at one stroke. Returns what waitApplied() takes. */
  write(file: string, objects: readonly KubeObject[]): URLSearchParams {
    const stamped = objects.map((object) => this.stamp(object));
    this.writeText(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: stamped }));
    const wanted = new URLSearchParams();
    for (const object of stamped) wanted.append("object", `${keyOf(object)}@${object.metadata.resourceVersion}`);
    const keys = new Set(stamped.map(keyOf));
    for (const key of this.contents.get(file) ?? []) if (!keys.has(key)) wanted.append("gone", key);
    this.contents.set(file, keys);
    return wanted;
  }

  /** Any text, valid or not. */
  writeText(file: string, text: string): void {
    const stage = resolve(this.manifests, `.stage-${file}`);
    writeFileSync(stage, text);
    renameSync(stage, resolve(this.manifests, file));
  }

  async waitApplied(wanted: URLSearchParams): Promise<void> {
    const body = new URLSearchParams(wanted);
    body.set("timeout", `${patienceMs / 1000}s`);
    const answer = await fetch(this.url("/applied"), { method: "POST", body });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`not applied: ${answer.status} ${text}\n${this.log.slice(-20).join("\n")}`);
  }

  async apply(file: string, objects: readonly KubeObject[]): Promise<void> {
    await this.waitApplied(this.write(file, objects));
  }

  async state(): Promise<ControllerState> {
    const state = (await (await fetch(this.url("/state"))).json()) as ControllerState;
    this.lastNginx = state.nginxPid;
    return state;
  }

  async findings(): Promise<readonly FindingReport[]> {
    return (await (await fetch(this.url("/findings"))).json()) as readonly FindingReport[];
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.ports.healthz}${path}`;
  }

  private stamp(object: KubeObject): KubeObject {
    this.lastVersion++;
    const uid = createHash("sha256").update(keyOf(object)).digest("hex").slice(0, 32);
    return { ...object, metadata: { creationTimestamp, uid, ...object.metadata, resourceVersion: String(this.lastVersion) } };
  }
}

function keyOf(object: KubeObject): string {
  return `${object.kind}/${object.metadata.namespace ?? ""}/${object.metadata.name}`;
}

/** Thrown inside a condition that can no longer come true. */
export class Ended extends Error {}

/** Asks again until the condition holds; what it throws counts as "not yet", except Ended. Fails after a minute. */
export async function eventually(what: string, condition: () => Promise<boolean> | boolean): Promise<void> {
  const until = Date.now() + patienceMs;
  let last: unknown;
  while (Date.now() < until) {
    try {
      if (await condition()) return;
      last = undefined;
    } catch (error) {
      if (error instanceof Ended) throw error;
      last = error;
    }
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error(`never came true: ${what}`, { cause: last });
}
