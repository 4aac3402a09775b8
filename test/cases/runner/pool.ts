// Gives cases to lanes. A lane keeps one set of controller flags as long as there are cases for it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Case } from "./case";
import { inNewNetwork } from "./fixture-link";
import type { LaneOptions, LaneReply, LaneRequest, Result } from "./lane";

export interface PoolOptions {
  readonly lanes: number;
  readonly kube: string | undefined;
  readonly bundle: string;
  readonly controller: string;
  readonly folder: string;
  /** Answers whether more cases shall begin. */
  readonly onResult: (one: Case, result: Result) => boolean;
}

function flagsKey(one: Case): string {
  return JSON.stringify([one.needs.includes("admission"), one.flags]);
}

/** Cases by flags, the largest set last: it is what lanes share at the end. */
export function groupByFlags(cases: readonly Case[]): Case[][] {
  const groups = new Map<string, Case[]>();
  for (const one of cases) {
    const group = groups.get(flagsKey(one)) ?? [];
    group.push(one);
    groups.set(flagsKey(one), group);
  }
  return [...groups.values()].sort((a, b) => a.length - b.length);
}

interface Desk {
  readonly groups: Case[][];
  /** Groups that some lane works on. */
  readonly taken: Set<Case[]>;
}

/** The next case for a lane: of its own group, else of one that nobody has, else of the largest. */
function nextCase(desk: Desk, mine: Case[] | undefined): { readonly one: Case; readonly group: Case[] } | undefined {
  const open = desk.groups.filter((group) => group.length > 0);
  const free = open.find((group) => !desk.taken.has(group));
  const group = mine !== undefined && mine.length > 0 ? mine : (free ?? open.at(-1));
  const one = group?.shift();
  if (group === undefined || one === undefined) return undefined;
  desk.taken.add(group);
  return { one, group };
}

async function nextReply(lane: ChildProcess): Promise<LaneReply> {
  const ended = new AbortController();
  const onExit = (): void => ended.abort();
  lane.once("exit", onExit);
  try {
    return ((await once(lane, "message", { signal: ended.signal })) as [LaneReply])[0];
  } catch {
    throw new Error(`a lane ended (${lane.exitCode ?? lane.signalCode}); see its message above`);
  } finally {
    lane.off("exit", onExit);
  }
}

function say(lane: ChildProcess, request: LaneRequest): void {
  lane.send(request);
}

function startLane(number: number, options: PoolOptions): ChildProcess {
  const folder = join(options.folder, `lane-${number}`);
  mkdirSync(folder, { recursive: true });
  const settings: LaneOptions = { bundle: options.bundle, controller: options.controller, folder, kube: options.kube };
  const [program, args] = inNewNetwork(process.execPath, [options.bundle, "--as-lane", JSON.stringify(settings)]);
  const lane = spawn(program, args, { stdio: ["ignore", "inherit", "inherit", "ipc"], env: { ...process.env, SLUICE_CASES_USERNS: "1" } });
  lane.on("error", (error) => console.error(`cannot start a lane: ${error.message}`));
  return lane;
}

async function stopLane(lane: ChildProcess): Promise<void> {
  if (lane.exitCode !== null || lane.signalCode !== null || !lane.connected) return;
  const gone = once(lane, "exit");
  say(lane, { kind: "stop" });
  await gone;
}

/** Throws when the lane cannot start; one that breaks down later costs its case and is replaced. */
async function driveLane(number: number, desk: Desk, options: PoolOptions): Promise<void> {
  let lane: ChildProcess | undefined;
  let group: Case[] | undefined;
  try {
    for (let work = nextCase(desk, group); work !== undefined; work = nextCase(desk, group)) {
      group = work.group;
      if (lane === undefined) {
        lane = startLane(number, options);
        await nextReply(lane);
      }
      const start = Date.now();
      try {
        say(lane, { kind: "run", case: work.one });
        const reply = await nextReply(lane);
        if (reply.kind === "result") options.onResult(work.one, reply.result);
      } catch (error) {
        lane = undefined;
        options.onResult(work.one, { outcome: "failed", durationMs: Date.now() - start, problems: [(error as Error).message] });
      }
    }
  } finally {
    if (lane !== undefined) await stopLane(lane);
  }
}

/** Runs all cases; throws when a lane breaks down. */
export async function runCases(cases: readonly Case[], options: PoolOptions): Promise<void> {
  const desk: Desk = { groups: groupByFlags(cases), taken: new Set() };
  const lanes = Math.min(options.lanes, cases.length);
  const onResult: PoolOptions["onResult"] = (one, result) => {
    const more = options.onResult(one, result);
    if (!more) for (const group of desk.groups) group.length = 0;
    return more;
  };
  await Promise.all(Array.from({ length: lanes }, (_, number) => driveLane(number, desk, { ...options, onResult })));
}
