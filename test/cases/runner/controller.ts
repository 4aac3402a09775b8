// One controller process: start until healthy, output, end.
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { WorldError } from "./world";

export const HEALTHZ_PORT = 10254;
const START_MS = 30_000;
const STOP_MS = 15_000;
const POLL_MS = 25;
const TAIL = 4000;

export interface ControllerProcess {
  readonly pid: number;
  /** Aborted when the process has ended. */
  readonly ended: AbortSignal;
  /** The last of what it printed. */
  tail(): string;
  stop(): Promise<void>;
}

export interface ControllerOptions {
  readonly program: string;
  /** Gets run/ and logs/ inside. */
  readonly folder: string;
  readonly flags: readonly string[];
}

function baseFlags(folder: string): readonly string[] {
  return [
    `--runtime-dir=${join(folder, "run")}`,
    `--log-dir=${join(folder, "logs")}`,
    "--ingress-class=nginx",
    "--controller-class=k8s.io/ingress-nginx",
    `--healthz-port=${HEALTHZ_PORT}`,
    "--post-shutdown-grace-period=0",
    // Reloads are limited to one in three seconds otherwise; every case with settings needs two.
    "--sync-rate-limit=100",
  ];
}

function nameOf(flag: string): string {
  return flag.split("=")[0]!;
}

/** The runner's flags with a case's on top: of two with one name the last stays. */
export function mergeFlags(flags: readonly string[]): readonly string[] {
  return flags.filter((flag, i) => !flags.slice(i + 1).some((later) => nameOf(later) === nameOf(flag)));
}

async function healthy(): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${HEALTHZ_PORT}/healthz`, { signal: AbortSignal.timeout(2000) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}

function lastLines(output: string): string {
  const lines = output.split("\n").filter((line) => line.trim() !== "" && !/^\s+at /.test(line));
  return lines.slice(-6).join(" | ");
}

function launch(options: ControllerOptions): ControllerProcess {
  const ended = new AbortController();
  // A group of its own, so that an nginx left behind by a crash can be ended with it.
  const child = spawn(process.execPath, [options.program, ...mergeFlags([...baseFlags(options.folder), ...options.flags])], {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, POD_NAME: "sluice-cases", POD_NAMESPACE: "default" },
  });
  let output = "";
  const keep = (data: Buffer): void => {
    appendFileSync(join(options.folder, "logs", "controller.log"), data);
    output = (output + data.toString()).slice(-TAIL);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  child.on("error", (error) => {
    output += error.message;
    ended.abort();
  });
  child.on("exit", (code, signal) => {
    output += `\n(ended with ${signal ?? code})`;
    ended.abort();
  });
  const signalGroup = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-child.pid!, signal);
    } catch {
      // Nobody left in the group.
    }
  };
  return {
    pid: child.pid!,
    ended: ended.signal,
    tail: () => lastLines(output),
    stop: async () => {
      if (!ended.signal.aborted) {
        child.kill("SIGTERM");
        await pause(STOP_MS, undefined, { signal: ended.signal }).catch(() => undefined);
      }
      signalGroup("SIGKILL");
    },
  };
}

/** Resolves when /healthz says 200. Throws WorldError with the end of the output. */
export async function startController(options: ControllerOptions): Promise<ControllerProcess> {
  rmSync(join(options.folder, "run"), { recursive: true, force: true });
  for (const name of ["run", "logs"]) mkdirSync(join(options.folder, name), { recursive: true });
  const process = launch(options);
  const over = Date.now() + START_MS;
  while (!(await healthy())) {
    if (process.ended.aborted || Date.now() > over) {
      await process.stop();
      throw new WorldError(`the controller did not start: ${process.tail()}`);
    }
    await pause(POLL_MS);
  }
  return process;
}
