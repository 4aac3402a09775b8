/** The network namespace that everything on the real API server runs in. */

import { spawnSync } from "node:child_process";

const network = [
  "ip link set lo up",
  "ip route add local 10.244.0.0/16 dev lo",
  "ip route add local 10.96.0.0/16 dev lo",
  // The node's own address.
  "ip route add local 10.0.0.1 dev lo",
  // As container runtimes have it.
  "sysctl -qw net.ipv4.ip_unprivileged_port_start=0",
  // Where the kernel has IPv6.
  "ip -6 route add local fd00:10:244::/64 dev lo 2>/dev/null || true",
].join(" && ");

/** Waits for a Node program in a namespace of its own; its exit code. */
export function runInNamespace(words: readonly string[], env: Readonly<Record<string, string>>): number {
  const quoted = [process.execPath, ...words].map((word) => `'${word}'`).join(" ");
  const { status } = spawnSync("unshare", ["--net", "sh", "-c", `${network} && exec ${quoted}`], {
    cwd: process.env.SLUICE_ROOT!,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...env },
  });
  return status ?? 1;
}
