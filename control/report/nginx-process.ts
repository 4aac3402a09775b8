/** What nginx's processes use, from /proc, and its connections, from stub_status; read at each scrape. */

import { readdirSync, readFileSync } from "node:fs";
import { family, prefix, type Sample } from "./exposition.ts";

interface Usage {
  readonly count: number;
  readonly cpuSeconds: number;
  readonly readBytes: number;
  readonly writeBytes: number;
  readonly resident: number;
  readonly virtual: number;
  /** Seconds since 1970; 0 without processes. */
  readonly oldest: number;
}

const ticksPerSecond = 100;
const pageSize = 4096;

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Fields of /proc/PID/stat after the name in brackets, which may hold spaces. */
function statFields(pid: number): string[] {
  const text = read(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

function familyOf(master: number): number[] {
  const pids = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  return [master, ...pids.filter((pid) => Number(statFields(pid)[1]) === master)];
}

function bootTime(): number {
  return Number(/^btime (\d+)$/m.exec(read("/proc/stat"))?.[1] ?? 0);
}

function usageOf(master: number): Usage {
  let usage: Usage = { count: 0, cpuSeconds: 0, readBytes: 0, writeBytes: 0, resident: 0, virtual: 0, oldest: 0 };
  for (const pid of master > 0 ? familyOf(master) : []) {
    const stat = statFields(pid);
    if (stat.length < 22) continue;
    const io = read(`/proc/${pid}/io`);
    const started = bootTime() + Number(stat[19]) / ticksPerSecond;
    usage = {
      count: usage.count + 1,
      cpuSeconds: usage.cpuSeconds + (Number(stat[11]) + Number(stat[12])) / ticksPerSecond,
      readBytes: usage.readBytes + Number(/^rchar: (\d+)/m.exec(io)?.[1] ?? 0),
      writeBytes: usage.writeBytes + Number(/^wchar: (\d+)/m.exec(io)?.[1] ?? 0),
      virtual: usage.virtual + Number(stat[20]),
      resident: usage.resident + Number(stat[21]) * pageSize,
      oldest: usage.oldest === 0 ? started : Math.min(usage.oldest, started),
    };
  }
  return usage;
}

async function connectionText(statusPort: number, labels: string): Promise<string> {
  let text = "";
  try {
    const answer = await fetch(`http://127.0.0.1:${statusPort}/nginx_status`, { signal: AbortSignal.timeout(2000) });
    text = answer.status === 200 ? await answer.text() : "";
  } catch {
    return "";
  }
  const number = (pattern: RegExp, group = 1) => Number(pattern.exec(text)?.[group] ?? 0);
  const totals = /^\s*(\d+)\s+(\d+)\s+(\d+)\s*$/m;
  const states = (values: Readonly<Record<string, number>>): Sample[] =>
    Object.entries(values).map(([state, value]) => ({ labels: `${labels},state="${state}"`, value }));
  return [
    family(
      `${prefix}nginx_process_connections_total`,
      "counter",
      "Connections since nginx was started.",
      states({
        accepted: number(totals),
        handled: number(totals, 2),
      }),
    ),
    family(
      `${prefix}nginx_process_connections`,
      "gauge",
      "Connections now.",
      states({
        active: number(/Active connections:\s*(\d+)/),
        reading: number(/Reading:\s*(\d+)/),
        writing: number(/Writing:\s*(\d+)/),
        waiting: number(/Waiting:\s*(\d+)/),
      }),
    ),
    family(`${prefix}nginx_process_requests_total`, "counter", "Requests since nginx was started, internal ones included.", [
      { labels, value: number(totals, 3) },
    ]),
  ].join("");
}

/** `master` 0: nginx does not run. */
export async function nginxProcessText(master: number, statusPort: number, labels: string): Promise<string> {
  const usage = usageOf(master);
  const one = (name: string, type: "gauge" | "counter", help: string, value: number) =>
    family(`${prefix}nginx_process_${name}`, type, help, [{ labels, value }]);
  return [
    await connectionText(statusPort, labels),
    one("num_procs", "gauge", "Processes of nginx.", usage.count),
    one("cpu_seconds_total", "counter", "CPU time of nginx, user and system, seconds.", usage.cpuSeconds),
    one("read_bytes_total", "counter", "Bytes that nginx read.", usage.readBytes),
    one("write_bytes_total", "counter", "Bytes that nginx wrote.", usage.writeBytes),
    one("resident_memory_bytes", "gauge", "Resident memory of nginx's processes.", usage.resident),
    one("virtual_memory_bytes", "gauge", "Virtual memory of nginx's processes.", usage.virtual),
    one("oldest_start_time_seconds", "gauge", "Start of the oldest process, seconds since 1970.", usage.oldest),
  ].join("");
}
