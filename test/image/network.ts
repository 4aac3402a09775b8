/** A network namespace in which pods' addresses are local, with a backend and curl. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";

export interface Network {
  readonly name: string;
  /** Standard output of curl, at most 5 seconds. Throws when curl fails. */
  curl(...args: readonly string[]): string;
  remove(): void;
}

function ip(...args: readonly string[]): void {
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });
}

/** `openPorts`: ports below 1024 need no capability, as container runtimes have it nowadays. */
export async function makeNetwork(root: string, name: string, openPorts: boolean): Promise<Network> {
  ip("netns", "add", name);
  let backend: ChildProcess | undefined;
  const remove = () => {
    backend?.kill("SIGKILL");
    ip("netns", "del", name);
  };
  try {
    ip("-n", name, "link", "set", "lo", "up");
    ip("-n", name, "route", "add", "local", "10.244.0.0/16", "dev", "lo");
    ip("netns", "exec", name, "sysctl", "-qw", `net.ipv4.ip_unprivileged_port_start=${openPorts ? 0 : 1024}`);
    backend = spawn("ip", ["netns", "exec", name, process.execPath, resolve(root, "test/image/backend.mjs")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(backend.stdout!, "data");
  } catch (error) {
    remove();
    throw error;
  }
  const curl = (...args: readonly string[]) =>
    execFileSync("ip", ["netns", "exec", name, "curl", "-sSk", "--max-time", "5", ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  return { name, curl, remove };
}
