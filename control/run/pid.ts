/** Processes by their pid files. */

import { promises as fs } from "node:fs";

/** The number in the file. Rejects when the file cannot be read or holds none. */
export async function readPid(path: string): Promise<number> {
  const text = (await fs.readFile(path, "utf8")).trim();
  if (!/^[1-9][0-9]{0,9}$/.test(text)) throw new Error(`${path} holds no process id`);
  return Number(text);
}

/** True as well for a process of another user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
