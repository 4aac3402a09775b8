/** wait-shutdown, the preStop hook: tells the controller to stop and returns when nginx has ended. */

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

export interface RunningProcess {
  readonly pid: number;
  readonly name: string;
  readonly command: string;
}

export interface Processes {
  list(): readonly RunningProcess[];
  terminate(pid: number): void;
  pause(): Promise<unknown>;
}

const controller = "nginx-ingress-controller";

/** Resolves with the exit code: 1 when there is no controller to tell. */
export async function waitShutdown(processes: Processes, print: (text: string) => void): Promise<number> {
  // Its wrappers carry the name as an argument and hand the signal on; a second one does no harm.
  const told = processes.list().filter(({ pid, command }) => pid !== process.pid && command.includes(controller));
  if (told.length === 0) {
    print(`there is no process ${controller}`);
    return 1;
  }
  for (const { pid } of told) {
    try {
      processes.terminate(pid);
    } catch (error) {
      print(`process ${pid} cannot be told to stop: ${(error as Error).message}`);
      return 1;
    }
  }
  while (processes.list().some(({ name }) => name === "nginx")) await processes.pause();
  return 0;
}

export const systemProcesses: Processes = {
  list: listProcesses,
  terminate: (pid) => {
    try {
      process.kill(pid, "SIGTERM");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  },
  pause: () => pause(1000),
};

function listProcesses(): RunningProcess[] {
  const found: RunningProcess[] = [];
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "latin1");
      // A zombie only waits to be noticed.
      if (stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3) === "Z") continue;
      const name = readFileSync(`/proc/${entry}/comm`, "latin1").trim();
      const command = readFileSync(`/proc/${entry}/cmdline`, "latin1").replaceAll("\0", " ");
      found.push({ pid: Number(entry), name, command });
    } catch {
      // gone meanwhile
    }
  }
  return found;
}
