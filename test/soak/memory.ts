/** Memory of nginx's workers and of the controller over the run, and whether it stays flat. */

import { readFileSync } from "node:fs";

interface Sample {
  /** Since the load began. */
  readonly seconds: number;
  readonly bytes: number;
}

export interface Series {
  readonly name: string;
  /** It must stay flat. */
  readonly promised: boolean;
  readonly samples: Sample[];
}

export interface Growth {
  readonly name: string;
  readonly promised: boolean;
  /** Means over minutes 2 and 3, and over the last minute; bytes. */
  readonly early: number;
  readonly late: number;
  readonly highest: number;
}

export interface ProcessMemory {
  readonly resident: number;
  /** Without pages that other processes have too, such as shared dictionaries. */
  readonly own: number;
}

/** Bytes. */
export function memoryOf(pid: number): ProcessMemory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)![1]) * 1024;
  return { resident: bytes("Rss"), own: bytes("Private_Clean") + bytes("Private_Dirty") };
}

function mean(samples: readonly Sample[]): number {
  return samples.reduce((sum, { bytes }) => sum + bytes, 0) / samples.length;
}

/** Undefined when the run is too short to compare minutes 2 and 3 with the last one. */
export function growthOf(series: readonly Series[]): readonly Growth[] | undefined {
  const end = series[0]?.samples.at(-1)?.seconds ?? 0;
  if (end < 235) return undefined;
  return series.map(({ name, promised, samples }) => ({
    name,
    promised,
    early: mean(samples.filter(({ seconds }) => seconds >= 60 && seconds < 180)),
    late: mean(samples.filter(({ seconds }) => seconds >= end - 60)),
    highest: Math.max(...samples.map(({ bytes }) => bytes)),
  }));
}
