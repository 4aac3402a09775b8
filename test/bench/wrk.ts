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
  for i, line in ipairs(hosts) do
    local host, path, more = line:match("^(%S+) (%S+)(.*)$")
    local headers = { Host = host }
    for name, value in more:gmatch("\t([^:]+): ([^\t]*)") do headers[name] = value end
    requests[i] = wrk.format("GET", path, headers)
  end
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

export interface LoadRequest {
  readonly host: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function line({ host, path = "/", headers = {} }: LoadRequest): string {
  return [`${host} ${path}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join("\t");
}

/** A prepared load: the script and the list of requests lie in dir, named after the load. */
export function prepareWrk(
  dir: string,
  name: string,
  requests: readonly LoadRequest[],
): { run(port: number, seconds: number): Promise<WrkResult> } {
  const scriptFile = `${dir}/wrk-${name}.lua`;
  const hostsFile = `${dir}/requests-${name}`;
  writeFileSync(scriptFile, script);
  writeFileSync(hostsFile, `${requests.map(line).join("\n")}\n`);
  return {
    async run(port, seconds) {
      const args = ["-t1", "-c32", `-d${seconds}s`, "-s", scriptFile, `http://127.0.0.1:${port}`];
      const { stdout } = await promisify(execFile)("/usr/bin/wrk", args, { env: { ...process.env, BENCH_HOSTS: hostsFile } });
      const result = /^RESULT (.*)$/m.exec(stdout)?.[1];
      if (result === undefined) throw new Error(`wrk printed no result: ${stdout}`);
      return JSON.parse(result) as WrkResult;
    },
  };
}
