/** What a new TCP connection costs the worker: endpoints looked up for each one, beside an upstream block of nginx's. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { freePorts } from "../../build/free-ports.ts";
import { end } from "../../build/processes.ts";
import { Controller } from "../kit/controller.ts";
import { configMap, endpointSlices, ingressClass, service } from "../kit/manifests.ts";
import { askTcp, startStreamPods } from "../kit/stream-pods.ts";
import { cpuNanoseconds, workersOf } from "../kit/worker-processes.ts";
import { startNginx } from "./plain-nginx.ts";
import { median } from "./rounds.ts";

export interface StreamRow {
  readonly kind: string;
  readonly plainMicroseconds: number;
  readonly sluiceMicroseconds: number;
}

const kinds = [
  { name: "one endpoint", addresses: ["127.42.0.1"] },
  { name: "four endpoints", addresses: ["127.42.0.1", "127.42.0.2", "127.42.0.3", "127.42.0.4"] },
];
const lanes = 8;

/** CPU time of the worker for one connection, in nanoseconds. */
async function measure(port: number, worker: number, count: number): Promise<number> {
  const before = cpuNanoseconds(worker);
  const each = Math.ceil(count / lanes);
  const lane = async (): Promise<void> => {
    for (let done = 0; done < each; done++) if ((await askTcp(port)) === "") throw new Error(`port ${port}: no endpoint answered`);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return (cpuNanoseconds(worker) - before) / (each * lanes);
}

/** As Sluice's, with static endpoints. */
function plainText(dir: string, sluiceConf: string, ports: readonly number[], pod: number): string {
  const modules = sluiceConf.match(/^load_module .*ngx_stream_module.so;$/m)?.[0] ?? "";
  const format = sluiceConf.match(/^ {4}log_format sluice_stream .*;$/m)?.[0] ?? "";
  const servers = kinds.map(
    ({ addresses }, i) => `  upstream u${i} { ${addresses.map((a) => `server ${a}:${pod};`).join(" ")} }
  server { listen ${ports[i]}; listen [::]:${ports[i]}; proxy_pass u${i}; }`,
  );
  return `${modules}
worker_processes 1;
pid ${dir}/nginx.pid;
error_log ${dir}/error.log notice;
daemon off;
events { worker_connections 16384; multi_accept on; }
stream {
${format}
  access_log ${dir}/access.log sluice_stream;
${servers.join("\n")}
}
`;
}

async function startSluice(ports: readonly number[], pod: number): Promise<Controller> {
  const controller = await Controller.create(["--tcp-services-configmap=default/tcp"]);
  const data = Object.fromEntries(ports.map((port, i) => [port, `default/app-${i}:http`]));
  controller.write("all.json", [
    ingressClass,
    configMap({ "worker-processes": "1" }),
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "tcp", namespace: "default" }, data },
    ...kinds.flatMap(({ addresses }, i) => [
      service(`app-${i}`),
      ...endpointSlices(
        `app-${i}`,
        addresses.map((address) => ({ address, port: pod })),
      ),
    ]),
  ]);
  await controller.start();
  return controller;
}

/** `count` connections of each kind in every round. */
export async function measureStreams(rounds: number, count: number): Promise<readonly StreamRow[]> {
  const [pod, ...ports] = (await freePorts(1 + 2 * kinds.length)) as [number, ...number[]];
  const pods = await startStreamPods(pod, []);
  const [plainPorts, sluicePorts] = [ports.slice(0, kinds.length), ports.slice(kinds.length)];
  const controller = await startSluice(sluicePorts, pod);
  const conf = readFileSync(join(controller.runtimeDir, "private/nginx.conf"), "utf8");
  const plain = await startNginx(plainPorts[0]!, (dir) => plainText(dir, conf, plainPorts, pod));
  try {
    const worker = workersOf((await controller.state()).nginxPid)[0]!;
    const rows: StreamRow[] = [];
    for (const [i, kind] of kinds.entries()) {
      const times = { plain: [] as number[], sluice: [] as number[] };
      for (let round = -1; round < rounds; round++) {
        const [a, b] = [await measure(plainPorts[i]!, plain.worker, count), await measure(sluicePorts[i]!, worker, count)];
        // the first one warms up
        if (round >= 0) times.plain.push(a);
        if (round >= 0) times.sluice.push(b);
      }
      rows.push({ kind: kind.name, plainMicroseconds: median(times.plain) / 1000, sluiceMicroseconds: median(times.sluice) / 1000 });
    }
    return rows;
  } finally {
    await end(plain.process);
    await controller.stop();
    pods.stop();
  }
}
