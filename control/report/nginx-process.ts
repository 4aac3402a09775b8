/** What nginx's processes use, from /proc, and its connections, from stub_status; read at each scrape. */

import { readdirSync, readFileSync } from "node:fs";
import { family, prefix, type Sample } from "./exposition.ts";

export interface ProcessUsage {
  /** Of no other process, though pids come again. */
  readonly id: string;
  readonly cpuSeconds: number;
  readonly readBytes: number;
  readonly writeBytes: number;
  readonly resident: number;
  readonly virtual: number;
  /** Seconds since 1970. */
  readonly started: number;
}

const counted = ["cpuSeconds", "readBytes", "writeBytes"] as const;
type Totals = Record<(typeof counted)[number], number>;

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

function usagesOf(master: number): ProcessUsage[] {
  return (master > 0 ? familyOf(master) : []).flatMap((pid) => {
    const stat = statFields(pid);
    if (stat.length < 22) return [];
    const io = read(`/proc/${pid}/io`);
    const usage = {
      id: `${pid} ${stat[19]}`,
      cpuSeconds: (Number(stat[11]) + Number(stat[12])) / ticksPerSecond,
      readBytes: Number(/^rchar: (\d+)/m.exec(io)?.[1] ?? 0),
      writeBytes: Number(/^wchar: (\d+)/m.exec(io)?.[1] ?? 0),
      virtual: Number(stat[20]),
      resident: Number(stat[21]) * pageSize,
      started: bootTime() + Number(stat[19]) / ticksPerSecond,
    };
    return [usage];
  });
}

/** What processes have used, those that have ended too: workers come and go with each reload, and a counter never falls. */
export class ProcessTotals {
  readonly #ended: Totals = { cpuSeconds: 0, readBytes: 0, writeBytes: 0 };
  #last: ReadonlyMap<string, Totals> = new Map();

  /** All that run now. */
  add(running: readonly ProcessUsage[]): Totals {
    const now = new Map<string, Totals>();
    for (const usage of running) {
      const before = this.#last.get(usage.id);
      // of a process that is just ending /proc says 0
      const most = (name: keyof Totals) => Math.max(usage[name], before?.[name] ?? 0);
      now.set(usage.id, { cpuSeconds: most("cpuSeconds"), readBytes: most("readBytes"), writeBytes: most("writeBytes") });
    }
    for (const [id, usage] of this.#last) {
      if (!now.has(id)) for (const name of counted) this.#ended[name] += usage[name];
    }
    this.#last = now;
    const sum = (name: keyof Totals) => [...now.values()].reduce((total, usage) => total + usage[name], this.#ended[name]);
    return { cpuSeconds: sum("cpuSeconds"), readBytes: sum("readBytes"), writeBytes: sum("writeBytes") };
  }
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

export class NginxProcesses {
  readonly #statusPort: number;
  readonly #labels: string;
  readonly #totals = new ProcessTotals();

  /** `labels` of this controller, as text. */
  constructor(statusPort: number, labels: string) {
    this.#statusPort = statusPort;
    this.#labels = labels;
  }

  /** `master` 0: nginx does not run. */
  async text(master: number): Promise<string> {
    const labels = this.#labels;
    const running = usagesOf(master);
    const totals = this.#totals.add(running);
    const sum = (of: (usage: ProcessUsage) => number) => running.reduce((total, usage) => total + of(usage), 0);
    const oldest = running.length === 0 ? 0 : Math.min(...running.map((usage) => usage.started));
    const one = (name: string, type: "gauge" | "counter", help: string, value: number) =>
      family(`${prefix}nginx_process_${name}`, type, help, [{ labels, value }]);
    return [
      await connectionText(this.#statusPort, labels),
      one("num_procs", "gauge", "Processes of nginx.", running.length),
      one("cpu_seconds_total", "counter", "CPU time of nginx, user and system, seconds.", totals.cpuSeconds),
      one("read_bytes_total", "counter", "Bytes that nginx read.", totals.readBytes),
      one("write_bytes_total", "counter", "Bytes that nginx wrote.", totals.writeBytes),
      one(
        "resident_memory_bytes",
        "gauge",
        "Resident memory of nginx's processes.",
        sum((usage) => usage.resident),
      ),
      one(
        "virtual_memory_bytes",
        "gauge",
        "Virtual memory of nginx's processes.",
        sum((usage) => usage.virtual),
      ),
      one("oldest_start_time_seconds", "gauge", "Start of the oldest process, seconds since 1970.", oldest),
    ].join("");
  }
}
