/** nginx without Lua: the yardstick, with the request headers, log and limits that Sluice has; and the backend of both. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { eventually } from "../kit/controller.ts";
import { workersOf } from "../kit/worker-processes.ts";

export interface RunningNginx {
  readonly port: number;
  readonly process: ChildProcess;
  /** The one worker. */
  readonly worker: number;
}

const headers = [
  ["Host", "$http_host"],
  ["X-Request-ID", "$request_id"],
  ["X-Real-IP", "$remote_addr"],
  ["X-Forwarded-For", "$remote_addr"],
  ["X-Forwarded-Host", "$http_host"],
  ["X-Forwarded-Port", "$server_port"],
  ["X-Forwarded-Proto", "$scheme"],
  ["X-Forwarded-Scheme", "$scheme"],
  ["X-Scheme", "$scheme"],
  ["Connection", '""'],
] as const;

// The fields of Sluice's default format; what only Sluice knows is constant text.
const logFormat =
  '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" ' +
  "$request_length $request_time [default-app-80] [] $upstream_addr $upstream_response_length $upstream_response_time $upstream_status $request_id";

export function frame(dir: string, http: string): string {
  const temps = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `  ${name}_temp_path ${dir}/${name};`);
  return `worker_processes 1;
worker_rlimit_nofile 65536;
pid ${dir}/nginx.pid;
error_log ${dir}/error.log notice;
daemon off;
events { worker_connections 16384; multi_accept on; }
http {
${temps.join("\n")}
  keepalive_timeout 75s;
  keepalive_requests 1000;
  server_tokens off;
${http}
}
`;
}

/** One server block a host, all proxied to one keep-alive pool. */
export function plainConfiguration(dir: string, port: number, backend: string, hosts: readonly string[]): string {
  const lines = headers.map(([name, value]) => `      proxy_set_header ${name} ${value};`).join("\n");
  const servers = hosts.map(
    (host) => `  server {
    listen ${port};
    server_name ${host};
    location / {
${lines}
      proxy_pass http://backend;
    }
  }`,
  );
  return frame(
    dir,
    `  log_format upstreaminfo '${logFormat}';
  access_log ${dir}/access.log upstreaminfo;
  server_names_hash_max_size 65536;
  server_names_hash_bucket_size 128;
  proxy_http_version 1.1;
  proxy_buffering off;
  proxy_connect_timeout 5s;
  upstream backend { server ${backend}; keepalive 320; keepalive_requests 10000; }
${servers.join("\n")}`,
  );
}

export function backendConfiguration(dir: string, address: string, port: number): string {
  return frame(
    dir,
    `  access_log off;
  server {
    listen ${address}:${port};
    keepalive_requests 1000000;
    keepalive_timeout 600s;
    location / { default_type text/plain; return 200 "ok"; }
  }`,
  );
}

/** Starts nginx and waits for its worker. */
export async function startNginx(port: number, configuration: (dir: string) => string): Promise<RunningNginx> {
  const dir = mkdtempSync(resolve(tmpdir(), "sluice-bench-"));
  mkdirSync(resolve(dir, "logs"));
  const file = resolve(dir, "nginx.conf");
  writeFileSync(file, configuration(dir));
  const child = spawn("/usr/sbin/nginx", ["-p", dir, "-c", file, "-e", resolve(dir, "error.log")], { stdio: ["ignore", "ignore", "pipe"] });
  let trouble = "";
  child.stderr!.on("data", (chunk: Buffer) => {
    trouble += chunk.toString();
  });
  child.once("exit", () => {
    if (trouble !== "") console.error(trouble);
    rmSync(dir, { recursive: true, force: true });
  });
  await once(child, "spawn");
  let workers: readonly number[] = [];
  await eventually("nginx has its worker", () => {
    workers = workersOf(child.pid!);
    return workers.length === 1;
  });
  return { port, process: child, worker: workers[0]! };
}
