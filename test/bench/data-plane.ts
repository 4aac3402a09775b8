/**
 * CPU per request of the data plane over plain nginx with the same proxied headers: `node build/run.mjs
 * test/bench/data-plane.ts [hosts] [rounds]`. Rounds alternate; CPU is user + system of the one worker.
 */
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { backendDocument, byName, DataPlane, hostDocument, routeDocument } from "../kit/data-plane.ts";

const hosts = Number(process.argv[2] ?? 1);
const rounds = Number(process.argv[3] ?? 5);
const upstreamPort = 28391;
const plainPort = 28392;

async function workerOf(master: number): Promise<number> {
  for (let i = 0; i < 100; i++) {
    const children = readFileSync(`/proc/${master}/task/${master}/children`, "utf8").trim();
    if (children !== "") return Number(children.split(" ")[0]);
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`process ${master} has no worker`);
}

/** Clock ticks (1/100 s). */
function cpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
}

function headerLines(conf: string): string {
  return conf
    .split("\n")
    .filter((line) => /^\s*proxy_(?!next_upstream_tries|temp)/.test(line) && !line.includes("proxy_pass "))
    .join("\n")
    .replaceAll("$sluice_upstream_host", "$http_host")
    .replaceAll(/\$sluice_client_\w+/g, "")
    .replaceAll("$pass_port", "$server_port")
    .replaceAll("$req_id", "$request_id")
    .replaceAll("$connection_upgrade", "");
}

function plainConf(dir: string, conf: string): string {
  return `daemon off; master_process on; worker_processes 1; user root; pid ${dir}/plain.pid; error_log ${dir}/plain.log;
events { worker_connections 4096; multi_accept on; }
http { proxy_temp_path ${dir}/temp/proxy2; client_body_temp_path ${dir}/temp/body2; server_tokens off;
log_format l '$remote_addr "$request" $status $body_bytes_sent [-] [-] $upstream_addr $request_id'; access_log ${dir}/plain-access.log l;
${headerLines(conf)}
upstream u { server 127.0.0.1:${upstreamPort}; keepalive 320; keepalive_requests 10000; }
server { listen ${plainPort} reuseport; location / { proxy_pass http://u; } } }`;
}

function upstreamConf(dir: string): string {
  return `daemon off; worker_processes 1; user root; pid ${dir}/up.pid; error_log ${dir}/up.log; events { worker_connections 4096; }
http { client_body_temp_path ${dir}/temp/body3; access_log off; keepalive_requests 10000000; server { listen ${upstreamPort} reuseport; location / { return 200 "ok"; } } }`;
}

function startPlain(dir: string, name: string, text: string): number {
  const file = join(dir, `${name}.conf`);
  writeFileSync(file, text);
  const child = spawn("nginx", ["-p", dir, "-c", file, "-e", join(dir, `${name}-e.log`)], { stdio: "inherit" });
  process.on("exit", () => child.kill("SIGTERM"));
  return child.pid!;
}

/** µs of CPU per request. */
function measure(worker: number, port: number, script: string): number {
  const before = cpuTicks(worker);
  const out = execFileSync("wrk", ["-t1", "-c16", "-d3s", "-s", script, `http://127.0.0.1:${port}/some/path?x=1`], { encoding: "utf8" });
  const requests = Number(/(\d+) requests in/.exec(out)![1]);
  const bad = /Non-2xx.*/.exec(out);
  if (bad !== null) throw new Error(bad[0]);
  return ((cpuTicks(worker) - before) * 10_000) / requests;
}

function median(numbers: number[]): number {
  return numbers.toSorted((x, y) => x - y)[Math.floor(numbers.length / 2)]!;
}

async function run(): Promise<void> {
  const plane = await DataPlane.start();
  const conf = readFileSync(join(plane.dir, "nginx.conf"), "utf8");
  const upstream = startPlain(plane.dir, "up", upstreamConf(plane.dir));
  const plain = startPlain(plane.dir, "plain", plainConf(plane.dir, conf));
  const names = Array.from({ length: hosts }, (_, i) => `host-${i}.bench.test`);
  const endpoint = { address: "127.0.0.1", port: String(upstreamPort) };
  await plane.apply({
    backends: byName(...names.map((name) => backendDocument(`default-${name}-80`, [endpoint]))),
    hosts: byName(
      ...names.map((name) =>
        hostDocument(name, [
          routeDocument("/", `default-${name}-80`),
          routeDocument("/api/", `default-${name}-80`),
          routeDocument("/api", `default-${name}-80`),
        ]),
      ),
    ),
  });
  const script = join(plane.dir, "wrk.lua");
  writeFileSync(
    script,
    `local n = ${hosts} local i = 0 request = function() i = (i + 1) % n return "GET /some/path?x=1 HTTP/1.1\\r\\nHost: host-" .. i .. ".bench.test\\r\\nUser-Agent: wrk\\r\\nAccept: */*\\r\\n\\r\\n" end`,
  );
  const [ours, theirs] = [await workerOf(plane.pid()), await workerOf(plain)];
  const [a, b]: [number[], number[]] = [[], []];
  measure(ours, plane.ports.http, script);
  measure(theirs, plainPort, script);
  for (let i = 0; i < rounds; i++) {
    a.push(measure(ours, plane.ports.http, script));
    b.push(measure(theirs, plainPort, script));
  }
  console.log(
    `hosts ${hosts}: sluice ${median(a).toFixed(1)} µs, plain ${median(b).toFixed(1)} µs, ratio ${(median(a) / median(b)).toFixed(2)}, worker ${residentMb(ours).toFixed(0)} MB (plain ${residentMb(theirs).toFixed(0)})`,
  );
  for (const pid of [upstream, plain]) process.kill(pid, "SIGTERM");
  await plane.stop();
}

await run();
