/** Processes of the soak beside the main one: the same bundle in another role. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export function spawnRole(role: string): ChildProcess {
  return spawn(process.execPath, [process.argv[1]!, `--role=${role}`], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

/** Its next message. Rejects when the process ends first. */
export async function nextMessage(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  const onExit = (): void => ended.abort();
  child.once("exit", onExit);
  try {
    const [message] = (await once(child, "message", { signal: ended.signal })) as [unknown];
    return message;
  } finally {
    child.off("exit", onExit);
  }
}

export async function endRole(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.disconnect();
  await gone;
}
