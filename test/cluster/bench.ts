/**
 * On a real API server with many Ingresses: the start, and how long an EndpointSlice takes to become an answer.
 * usage: npm run bench:cluster -- [--changes=N] [--ingresses=N]
 */

import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { KubeConfig } from "@kubernetes/client-node";
import { type ApiServer, connectApiServer } from "../../control/source/api-server.ts";
import { get, keepAliveAgent } from "../kit/client.ts";
import { cpuNanoseconds, residentBytes } from "../kit/worker-processes.ts";
import { eventually } from "./control-plane.ts";
import { runInNamespace } from "./namespace.ts";
import { kubeProgram, obstacle } from "./program.ts";
import { ingress, World } from "./world.ts";

const options = {
  changes: { type: "string", default: "200" },
  ingresses: { type: "string", default: "300" },
} as const;

interface Endpoint {
  readonly name: string;
  readonly ip: string;
}

/** Milliseconds until the first answer of the new endpoint. */
interface Delay {
  /** From the moment the write was sent to the API server. */
  readonly sent: number;
  /** From the API server's acknowledgement; below 0: the answer came before it. */
  readonly acknowledged: number;
}

const ingresses = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
const events = "/api/v1/namespaces/default/events";
const patienceMs = 600_000;
const slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

function slice({ ip }: Endpoint): object {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "moving-1", labels: { "kubernetes.io/service-name": "moving" } },
    addressType: "IPv4",
    endpoints: [{ addresses: [ip], conditions: { ready: true } }],
    ports: [{ port: 8080 }],
  };
}

async function startPod(world: World, name: string): Promise<Endpoint> {
  const container = { name: "echo", image: "echo", ports: [{ containerPort: 8080 }] };
  await world.mustApply({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { containers: [container] } });
  let ip = "";
  await eventually(`${name} runs`, async () => {
    const { status } = await world.get<{ readonly status: { readonly phase: string; readonly podIP?: string } }>("pod", "default", name);
    ip = status.podIP ?? "";
    return status.phase === "Running";
  });
  return { name, ip };
}

async function measure(api: ApiServer, port: number, endpoints: readonly Endpoint[], changes: number): Promise<readonly Delay[]> {
  const agent = keepAliveAgent(false);
  const delays: Delay[] = [];
  for (let change = 0; change < changes; change++) {
    const next = endpoints[(change + 1) % endpoints.length]!;
    const sent = performance.now();
    const written = api.send("PATCH", `${slices}/moving-1`, slice(next)).then(() => performance.now());
    for (;;) {
      const { body } = await get({ port, host: "moving.test", agent });
      if (body.includes(`"pod":"${next.name}"`)) break;
    }
    const answered = performance.now();
    delays.push({ sent: answered - sent, acknowledged: answered - (await written) });
  }
  agent.destroy();
  return delays;
}

function print(what: string, values: readonly number[]): void {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1);
  console.log(`${what}: p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms (${values.length} changes)`);
}

/** A few at a time. */
async function createOthers(api: ApiServer, count: number): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      next++;
      await api.send("POST", ingresses, ingress(`other-${next}`, `other-${next}.test`, "moving"));
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}

interface Status {
  readonly ingress?: readonly object[];
}

/** Without reading them all. */
async function countOf(api: ApiServer, path: string): Promise<number> {
  const answer = (await api.get(path, { limit: "1" }, AbortSignal.timeout(60_000))) as {
    readonly metadata: { readonly remainingItemCount?: number };
    readonly items: readonly object[];
  };
  return answer.items.length + (answer.metadata.remainingItemCount ?? 0);
}

async function statusesOf(api: ApiServer): Promise<readonly Status[]> {
  const { items } = (await api.get(ingresses, {}, AbortSignal.timeout(60_000))) as {
    readonly items: readonly { readonly status: { readonly loadBalancer: Status } }[];
  };
  return items.map(({ status }) => status.loadBalancer);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

async function bench(changes: number, others: number): Promise<void> {
  const world = new World();
  try {
    await world.start();
    const config = new KubeConfig();
    config.loadFromFile(world.plane.adminConfig);
    const api = connectApiServer(config);
    await createOthers(api, others);
    const begun = performance.now();
    const pod = await world.startController(0, ["--publish-status-address=192.0.2.1"]);
    const startMs = performance.now() - begun;
    const endpoints = await Promise.all(["first", "second"].map((name) => startPod(world, name)));
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "moving" }, spec: { ports: [{ port: 80, targetPort: 8080 }] } };
    await world.mustApply(service, slice(endpoints[0]!), ingress("moving", "moving.test", "moving"));
    await eventually("moving.test answers", async () => (await get({ port: pod.httpPort, host: "moving.test" })).status === 200);
    // What follows a start must not be measured as an endpoint change.
    await eventually("every Ingress has its Event", async () => (await countOf(api, events)) > others, patienceMs);
    await eventually(
      "every Ingress has its status",
      async () => (await statusesOf(api)).every(({ ingress: all }) => all !== undefined),
      patienceMs,
    );
    const statusMs = performance.now() - begun;
    const pid = world.node.pid(`ingress-nginx/${pod.name}`);
    const before = cpuNanoseconds(pid);
    const delays = await measure(api, pod.httpPort, endpoints, changes);
    const perChange = (cpuNanoseconds(pid) - before) / 1e6 / changes;
    api.close();
    console.log(`${others} other Ingresses; load ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores`);
    console.log(`from the pod's creation: healthy after ${seconds(startMs)}, every status and Event written after ${seconds(statusMs)}`);
    console.log(`the controller's resident memory: ${(residentBytes(pid) / 1024 / 1024).toFixed(0)} MB`);
    console.log(`EndpointSlice write to the first answer of the new endpoint; CPU of the controller for one ${perChange.toFixed(1)} ms`);
    print(
      "  from the write being sent",
      delays.map(({ sent }) => sent),
    );
    print(
      "  from its acknowledgement ",
      delays.map(({ acknowledged }) => acknowledged),
    );
  } finally {
    await world.stop();
  }
}

const { values } = parseArgs({ options });
if (process.env.SLUICE_KUBE === undefined) {
  const reason = obstacle();
  if (reason !== undefined) throw new Error(reason);
  const kube = await kubeProgram();
  process.exitCode = runInNamespace(["build/run.mjs", "test/cluster/bench.ts", ...process.argv.slice(2)], { SLUICE_KUBE: kube });
} else {
  await bench(Number(values.changes), Number(values.ingresses));
}
