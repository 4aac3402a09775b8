// What the proxy wrote to its access log since a case began.
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { LogsSpec } from "./case";
import { testText } from "./matcher";

const APPEAR_MS = 3000;
const SETTLE_MS = 250;
const POLL_MS = 25;

export function logSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function readFrom(path: string, start: number): string {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return "";
  }
  try {
    const size = fstatSync(file).size;
    // Shorter than at the start: a new controller began a new file.
    const from = size < start ? 0 : start;
    const data = Buffer.alloc(size - from);
    readSync(file, data, 0, data.length, from);
    return data.toString();
  } finally {
    closeSync(file);
  }
}

/** Waits for what must appear, then a moment for what must not. */
export async function checkLog(path: string, start: number, wanted: LogsSpec): Promise<string | undefined> {
  const over = Date.now() + APPEAR_MS;
  while (testText(readFrom(path, start), { contains: wanted.contains }) !== undefined && Date.now() < over) await pause(POLL_MS);
  if (wanted.lacks !== undefined) await pause(SETTLE_MS);
  return testText(readFrom(path, start), wanted);
}
