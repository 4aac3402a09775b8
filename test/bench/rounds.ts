/** Rounds of load on several proxies in turn, and the medians over them. */

import { cpuNanoseconds } from "../kit/worker-processes.ts";
import type { WrkResult } from "./wrk.ts";

export interface Target {
  readonly name: string;
  readonly port: number;
  readonly worker: number;
}

export interface Row {
  readonly target: string;
  readonly hosts: number;
  readonly cpuMicroseconds: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly requests: number;
  readonly errors: number;
  /** CPU per request of each round, in order. */
  readonly rounds: readonly number[];
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

interface Round extends WrkResult {
  readonly cpu: number;
}

/** Interleaved: each round loads every target once, each time in another order, so that slow minutes of the machine hit all. */
export async function runRounds(
  targets: readonly Target[],
  hosts: number,
  rounds: number,
  load: (target: Target) => Promise<WrkResult>,
): Promise<readonly Row[]> {
  const results = new Map<string, Round[]>(targets.map((target) => [target.name, []]));
  for (let round = 0; round < rounds; round++) {
    const order = targets.map((_, index) => targets[(index + round) % targets.length]!);
    for (const target of order) {
      const before = cpuNanoseconds(target.worker);
      const result = await load(target);
      const cpu = (cpuNanoseconds(target.worker) - before) / 1000 / result.requests;
      results.get(target.name)!.push({ ...result, cpu });
    }
  }
  return targets.map((target) => summary(target.name, hosts, results.get(target.name)!));
}

function summary(target: string, hosts: number, rounds: readonly Round[]): Row {
  const sum = (of: (round: Round) => number): number => rounds.reduce((total, round) => total + of(round), 0);
  const middle = (of: (round: Round) => number): number => median(rounds.map(of));
  return {
    target,
    hosts,
    cpuMicroseconds: middle((round) => round.cpu),
    requestsPerSecond: middle((round) => round.requests / round.seconds),
    p50Ms: middle((round) => round.p50Ms),
    p99Ms: middle((round) => round.p99Ms),
    requests: sum((round) => round.requests),
    errors: sum((round) => round.errors),
    rounds: rounds.map((round) => round.cpu),
  };
}
