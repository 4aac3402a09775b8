/** nginx processes as /proc shows them. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return stateOf(pid) !== "Z";
  } catch {
    return false;
  }
}

/** The process's title, e.g. "nginx: worker process is shutting down"; "" when it is gone. */
export function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}

function stat(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

function stateOf(pid: number): string {
  return stat(pid)[0] ?? "Z";
}

/** Processes of nginx whose working directory is `directory`: master, workers and what a dead master left behind. */
export function nginxIn(directory: string): number[] {
  const out: number[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (readFileSync(`/proc/${name}/comm`, "latin1").trim() !== "nginx") continue;
      if (readlinkSync(`/proc/${name}/cwd`) === directory && stateOf(Number(name)) !== "Z") out.push(Number(name));
    } catch {
      // gone meanwhile, or not ours to look at
    }
  }
  return out;
}

export function childrenOf(pid: number, among: readonly number[]): number[] {
  return among.filter((p) => Number(stat(p)[1] ?? -1) === pid);
}

export function isLeaving(pid: number): boolean {
  const title = titleOf(pid);
  return title === "" || title.includes("is shutting down");
}
