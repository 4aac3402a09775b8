/** What /proc tells of the workers of an nginx. */

import { readdirSync, readFileSync } from "node:fs";

/** Process ids with that parent. */
export function childrenOf(parent: number): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

/** Undefined when the process is gone. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}

/** Workers that are not on their way out. */
export function workersOf(master: number): readonly number[] {
  return childrenOf(master).filter((pid) => {
    const title = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    return title.startsWith("nginx: worker process") && !title.includes("shutting down");
  });
}

/** False also for a zombie that nobody has collected yet. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2)[0] !== "Z";
  } catch {
    return false;
  }
}

/** Time on a processor so far, in nanoseconds: user and system. */
export function cpuNanoseconds(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]);
}

/** Resident memory in bytes; shared memory counts as far as this process has touched it. */
export function residentBytes(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  if (match === null) throw new Error(`process ${pid} has no VmRSS`);
  return Number(match[1]) * 1024;
}
