import { Agent } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Call, get } from "../kit/client.ts";
import { type Load, type LoadReport, startLoad } from "../kit/load.ts";
import { eventually } from "./control-plane.ts";
import { type ControllerPod, deployment, ingress, World } from "./world.ts";

const world = new World();
let pod: ControllerPod;

/** What Kubernetes does by default. */
const surge = ["25%", "25%"] as const;
const replicas = 10;

beforeAll(async () => {
  await world.start();
  pod = await world.startController(0, ["--publish-status-address=192.0.2.1"]);
}, 180_000);

afterAll(() => world.stop(), 60_000);

interface Clients {
  readonly reading: Load;
  readonly writing: Load;
}

/** Each kind over connections that stay and over ones for a single request. */
function startClients(host: string): Clients {
  const call: Call = { port: pod.httpPort, host };
  const both = (each: Call): readonly Call[] => [each, { ...each, agent: new Agent() }];
  const post = both({ ...call, method: "POST", payload: "x".repeat(2000) });
  const stamp = (each: Call, number: number): Call => ({ ...each, headers: { "x-id": `${host}-${number}` } });
  return {
    reading: startLoad({ calls: both(call), loops: 4, pauseMs: 2 }),
    writing: startLoad({ calls: post, loops: 4, pauseMs: 2, stamp }),
  };
}

/** From the first version to the second, until the new one alone answers. */
async function rollUnderLoad(name: string, env: Readonly<Record<string, string>>): Promise<{ reading: LoadReport; writing: LoadReport }> {
  const host = `${name}.test`;
  await world.mustApply(...deployment(name, replicas, "v1", { env, surge }), ingress(name, host, name));
  await world.rolledOut(name);
  await eventually(`${host} answers`, async () => (await get({ port: pod.httpPort, host })).status === 200);
  const { reading, writing } = startClients(host);
  await Promise.all([reading.more(100), writing.more(100)]);
  await world.mustApply(...deployment(name, replicas, "v2", { env, surge }));
  await world.rolledOut(name);
  await eventually("every pod is of the new version", async () => {
    const pods = await world.mustKubectl([
      "get",
      "pods",
      "-l",
      `app=${name}`,
      "-o",
      'jsonpath={.items[*].spec.containers[0].env[?(@.name=="VERSION")].value}',
    ]);
    return pods.trim() === Array(replicas).fill("v2").join(" ");
  });
  await Promise.all([reading.more(100), writing.more(100)]);
  return { reading: await reading.stop(), writing: await writing.stop() };
}

/** How many times the pods were sent each request. */
function deliveries(name: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [, id] of world.logsOf((file) => file.startsWith(`default-${name}-`)).matchAll(/^POST (\S+)$/gm)) {
    counts.set(id!, (counts.get(id!) ?? 0) + 1);
  }
  return counts;
}

test("a rollout of ten pods that stop listening at once loses no request, and sends none twice that must not be", async () => {
  const { reading, writing } = await rollUnderLoad("abrupt", {});
  expect(reading.failures).toEqual({});
  // One that was sent over a connection which its pod was closing may have been seen: it is answered, not sent again.
  expect(Object.keys(writing.failures).filter((problem) => !problem.endsWith(": status 502"))).toEqual([]);
  const counts = deliveries("abrupt");
  expect(counts.size).toBeGreaterThan(100);
  expect([...counts].filter(([, count]) => count > 1)).toEqual([]);
}, 120_000);

test("pods that listen on until nothing comes any more lose no POST either", async () => {
  const { reading, writing } = await rollUnderLoad("lingering", { LINGER: "2000" });
  expect(reading.failures).toEqual({});
  expect(writing.failures).toEqual({});
}, 120_000);
