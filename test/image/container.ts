/** The image running as a pod would: user 101, read-only root, NET_BIND_SERVICE only. */

import { execFileSync, spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Network } from "./network.ts";

const startMs = 60_000;

export interface Container {
  /** Runs a program inside and gives its standard output. Throws when it fails. */
  exec(...command: readonly string[]): string;
  /** What it printed on both outputs. */
  logs(): string;
  /** Waits for its end; the exit code. */
  wait(): number;
  remove(): void;
}

export interface ContainerOptions {
  readonly root: string;
  readonly image: string;
  readonly env: NodeJS.ProcessEnv;
  readonly network: Network;
  /** allowPrivilegeEscalation: false. */
  readonly noNewPrivileges: boolean;
}

/** Resolves when it is healthy. */
export async function startContainer(o: ContainerOptions): Promise<Container> {
  const podman = (...args: readonly string[]) =>
    execFileSync("podman", args, { env: o.env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const name = o.network.name;
  const manifests = resolve(o.root, "test/image/manifests");
  podman(
    ...["run", "-d", "--name", name, `--network=ns:/run/netns/${name}`, "--read-only", "--tmpfs=/tmp:rw,size=64m"],
    ...["--cap-drop=ALL", "--cap-add=NET_BIND_SERVICE", ...(o.noNewPrivileges ? ["--security-opt=no-new-privileges"] : [])],
    // As the retired chart has it.
    ...["-e", "LD_PRELOAD=/usr/local/lib/libmimalloc.so", "-e", "POD_NAME=pod", "-e", "POD_NAMESPACE=default"],
    ...["-v", `${manifests}:/manifests:ro`, o.image, "/nginx-ingress-controller", "--manifests=/manifests"],
    ...["--election-id=ingress-nginx-leader", "--controller-class=k8s.io/ingress-nginx", "--ingress-class=nginx"],
    ...["--configmap=default/sluice", "--post-shutdown-grace-period=5"],
  );
  const container: Container = {
    exec: (...command) => podman("exec", name, ...command),
    logs: () => {
      const { stdout, stderr } = spawnSync("podman", ["logs", name], { env: o.env, encoding: "utf8" });
      return `${stdout}${stderr}`;
    },
    wait: () => Number(podman("wait", name)),
    remove: () => void podman("rm", "-f", "-t", "1", name),
  };
  const until = Date.now() + startMs;
  while (!healthy(o.network)) {
    if (Date.now() > until) {
      const logs = container.logs();
      container.remove();
      throw new Error(`the container did not become healthy:\n${logs}`);
    }
    await pause(100);
  }
  return container;
}

function healthy(network: Network): boolean {
  try {
    network.curl("-f", "http://127.0.0.1:10254/healthz");
    return true;
  } catch {
    return false;
  }
}
