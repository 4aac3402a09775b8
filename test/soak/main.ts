/**
 * Mixed load for minutes while endpoints change all the time. docs/soak.md says what it promises.
 * usage: npm run soak -- [--minutes=10] [--changes=50] [--seed=N]; KEEP=1 in the environment keeps logs
 */

import { execFileSync, spawnSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { kubeProgram, obstacle } from "../cluster/program.ts";
import { serveLoad } from "./load.ts";
import { servePods } from "./pods.ts";
import { runSoak } from "./run.ts";

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { minutes: text, changes: text, seed: text, role: text } });

function number(name: "minutes" | "changes" | "seed", otherwise: number): number {
  const value = Number(values[name] ?? otherwise);
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0`);
  return value;
}

/** The run wants addresses and ports of its own: it starts once more in a network namespace. */
async function enterNetwork(): Promise<void> {
  const reason = obstacle();
  if (reason !== undefined) {
    console.error(`the soak cannot run here: ${reason}`);
    process.exitCode = 2;
    return;
  }
  const env = { ...process.env, SLUICE_KUBE: await kubeProgram() };
  const given = process.argv.slice(2);
  const args = ["--net", "--", process.execPath, process.argv[1]!, "--role=run", ...given];
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
  process.exitCode = spawnSync("unshare", args, { stdio: "inherit", env }).status ?? 1;
}

async function run(): Promise<void> {
  execFileSync("ip", ["link", "set", "lo", "up"]);
  execFileSync("ip", ["route", "add", "local", "10.244.0.0/16", "dev", "lo"]);
  const options = { minutes: number("minutes", 10), changesPerSecond: number("changes", 50), seed: number("seed", 1) };
  const kept = await runSoak({ ...options, kube: process.env.SLUICE_KUBE! });
  process.exitCode = kept ? 0 : 1;
}

switch (values.role) {
  case undefined:
    await enterNetwork();
    break;
  case "run":
    await run();
    // what a client library keeps open must not keep the process
    await pause(100);
    process.exit();
    break;
  case "pods":
    servePods();
    break;
  default:
    serveLoad();
}
