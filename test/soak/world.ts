/** A real API server, the controller that follows it, and the pods. Everything ends with stop(). */

import type { ChildProcess } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type ControllerProcess, HEALTHZ_PORT, startController } from "../cases/runner/controller.ts";
import { ControlPlane, eventually } from "../cluster/control-plane.ts";
import { writeObject } from "../cluster/stored-object.ts";
import { Collector } from "../kit/collector.ts";
import type { ControllerState } from "../kit/controller.ts";
import { endRole, spawnRole } from "./child-process.ts";
import type { PodOrder, PodReport } from "./pods.ts";
import { collectorPort, type SoakService, standingObjects } from "./services.ts";

const program = resolve(process.env.SLUICE_ROOT!, "dist/nginx-ingress-controller.mjs");

export class SoakWorld {
  readonly folder = mkdtempSync(join(tmpdir(), "sluice-soak-"));
  readonly #plane: ControlPlane;
  readonly #pods: ChildProcess;
  readonly #waiting = new Map<string, () => void>();
  #controller: ControllerProcess | undefined;
  #collector: Collector | undefined;
  #lateAtPods = 0;

  constructor(kube: string) {
    // nginx's workers are another user.
    chmodSync(this.folder, 0o755);
    this.#plane = new ControlPlane(kube, join(this.folder, "plane"));
    this.#pods = spawnRole("pods");
    this.#pods.on("message", ({ kind, address }: PodReport) => {
      if (kind === "late") {
        this.#lateAtPods += 1;
        return;
      }
      this.#waiting.get(address)?.();
      this.#waiting.delete(address);
    });
  }

  /** Resolves when the API server has the services and the controller has started. */
  async start(): Promise<void> {
    await this.#plane.startStore();
    for (const object of standingObjects()) {
      await eventually(`${object.kind} ${object.metadata.name} is stored`, async () => (await writeObject(object)) !== "");
    }
    this.#collector = await Collector.start(collectorPort, false);
    const flags = [`--kubeconfig=${this.#plane.adminConfig}`, "--configmap=default/sluice", "--enable-metrics", "--update-status=false"];
    this.#controller = await startController({ program, folder: this.folder, flags: [...flags, "--disable-leader-election=true"] });
  }

  async openPod(address: string, { name, protocol }: SoakService): Promise<void> {
    await this.#order({ kind: "open", address, service: name, protocol });
  }

  async closePod(address: string): Promise<void> {
    await this.#order({ kind: "close", address });
  }

  async #order(order: PodOrder): Promise<void> {
    await new Promise<void>((done) => {
      this.#waiting.set(order.address, done);
      this.#pods.send(order);
    });
  }

  get controllerPid(): number {
    return this.#controller!.pid;
  }

  /** The last that the controller printed, once it has ended by itself. */
  obituary(): string | undefined {
    return this.#controller?.ended.aborted === true ? this.#controller.tail() : undefined;
  }

  /** Requests that nginx gave to a pod after it had been told to stop: answered there, or refused and given to the next. */
  lateRequests(): number {
    const log = readFileSync(join(this.folder, "logs/error.log"), "utf8");
    return this.#lateAtPods + (log.match(/ (Connection refused|prematurely closed connection)/g)?.length ?? 0);
  }

  /** That the collector was sent. */
  get spans(): number {
    return this.#collector!.received;
  }

  async state(): Promise<ControllerState> {
    return (await (await fetch(`http://127.0.0.1:${HEALTHZ_PORT}/state`)).json()) as ControllerState;
  }

  async metrics(): Promise<string> {
    return await (await fetch(`http://127.0.0.1:${HEALTHZ_PORT}/metrics`)).text();
  }

  /** With KEEP=1 in the environment the logs stay. */
  async stop(): Promise<void> {
    await this.#controller?.stop();
    await this.#collector?.stop();
    await this.#plane.stop();
    await endRole(this.#pods);
    if (process.env.KEEP === "1") console.log(`kept: ${this.folder}`);
    else rmSync(this.folder, { recursive: true, force: true });
  }
}
