/** Load by wrk: one thread, keep-alive connections, hosts in turn. */

import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { promisify } from "node:util";

export interface WrkResult {
  readonly requests: number;
  /** Socket errors and answers other than 2xx or 3xx. */
  readonly errors: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const script = `
local hosts = {}
for line in io.lines(os.getenv("BENCH_HOSTS")) do hosts[#hosts + 1] = line end
local requests, turn = {}, 0
function init()
  for i, host in ipairs(hosts) do requests[i] = wrk.format("GET", "/", { Host = host }) end
end
function request()
  turn = turn % #requests + 1
  return requests[turn]
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('RESULT {"requests":%d,"errors":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f}\\n', summary.requests,
    e.connect + e.read + e.write + e.status + e.timeout, summary.duration / 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
`;

/** A prepared load: the script and the list of hosts lie in dir. */
export function prepareWrk(dir: string, hosts: readonly string[]): { run(port: number, seconds: number): Promise<WrkResult> } {
  const scriptFile = `${dir}/wrk-${hosts.length}.lua`;
  const hostsFile = `${dir}/hosts-${hosts.length}`;
  writeFileSync(scriptFile, script);
  writeFileSync(hostsFile, `${hosts.join("\n")}\n`);
  return {
    async run(port, seconds) {
      const args = ["-t1", "-c32", `-d${seconds}s`, "-s", scriptFile, `http://127.0.0.1:${port}`];
      const { stdout } = await promisify(execFile)("/usr/bin/wrk", args, { env: { ...process.env, BENCH_HOSTS: hostsFile } });
      const line = /^RESULT (.*)$/m.exec(stdout)?.[1];
      if (line === undefined) throw new Error(`wrk printed no result: ${stdout}`);
      return JSON.parse(line) as WrkResult;
    },
  };
}
