import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../kit/controller.ts";
import { type Call, fail } from "../kit/fake-api.ts";
import { collections, FakedCluster } from "../kit/faked-cluster.ts";
import { type Load, startLoad } from "../kit/load.ts";
import { ingress } from "../kit/manifests.ts";
import { isAlive } from "../kit/worker-processes.ts";

let cluster: FakedCluster;
let load: Load | undefined;

beforeEach(async () => {
  load = undefined;
  cluster = await FakedCluster.create();
});

afterEach(async () => {
  await load?.stop();
  await cluster.stop();
});

/** Makes the fault last while hosts are added, moved and removed; afterwards all of it must hold. */
async function surviving(name: string, begin: () => unknown, end: () => unknown): Promise<void> {
  const host = (what: string, app: string) => ingress(`${name}-${what}`, { host: `${name}-${what}.test`, paths: { "/": app } });
  cluster.put(host("gone", "app-a"), host("moved", "app-a"));
  await cluster.serves(`${name}-gone.test`, "app-a");
  await cluster.serves(`${name}-moved.test`, "app-a");
  await begin();
  cluster.put(host("new", "app-b"), host("moved", "app-b"));
  cluster.api.remove(collections.Ingress, `default/${name}-gone`);
  await load!.more(100);
  await end();
  await cluster.serves(`${name}-new.test`, "app-b");
  await cluster.serves(`${name}-moved.test`, "app-b");
  await cluster.servesNot(`${name}-gone.test`);
}

/** Answers everything with these, in turn. */
function refusing(...statuses: readonly number[]): (call: Call) => boolean {
  let turn = 0;
  return ({ response }) => {
    fail(response, statuses[turn++ % statuses.length]!, { "retry-after": "1" });
    return true;
  };
}

test("whatever the API server does, nginx serves on and the controller catches up", { timeout: 240_000 }, async () => {
  const { api } = cluster;
  const controller = await cluster.start();
  load = startLoad({ calls: [{ port: controller.ports.http, host: "steady.test" }] });
  const { reloads } = await controller.state();
  const answerAgain = () => {
    api.intercept = () => false;
  };
  await surviving(
    "away",
    () => api.close(),
    () => api.listen(),
  );
  await surviving(
    "refusing",
    () => {
      api.intercept = refusing(500, 429, 401, 503);
      api.endWatches(undefined, "reset");
    },
    answerAgain,
  );
  await surviving(
    "compacted",
    () => {
      api.intercept = refusing(503);
      api.endWatches(undefined);
    },
    () => {
      api.forgetHistory();
      answerAgain();
    },
  );
  await surviving(
    "stuttering",
    () => {
      api.stutters = true;
    },
    () => {
      api.stutters = false;
    },
  );
  await surviving(
    "torn",
    () => api.sendText(collections.Ingress, '{"type":"MODIFIED","object":{"metadata":{"name":"torn-mov'),
    () => api.endWatches(undefined, "reset"),
  );
  await eventually("the status of the latest Ingress is written", () => {
    const status = api.get(collections.Ingress, "default/torn-new")?.status as { readonly loadBalancer?: object } | undefined;
    return JSON.stringify(status?.loadBalancer) === '{"ingress":[{"ip":"198.51.100.1"}]}';
  });
  expect(api.get(collections.Lease, "default/ingress-controller-leader")?.spec).toMatchObject({ holderIdentity: "sluice-0" });
  const report = await load.stop();
  expect(report.failures).toEqual({});
  expect((await controller.state()).reloads).toBe(reloads);
});

test("an API server that is away at the start is waited for", { timeout: 120_000 }, async () => {
  await cluster.api.close();
  const controller = await cluster.prepare();
  const started = controller.start();
  await eventually("the controller has tried", () => controller.log.some((line) => line.includes("trying again")));
  expect((await fetch(controller.url("/healthz"))).status).toBe(500);
  await cluster.api.listen();
  await started;
  await cluster.serves("steady.test", "app-a");
});

test("an API server that answers nothing more does not hold up the end", { timeout: 120_000 }, async () => {
  const controller = await cluster.start();
  const { pid } = controller;
  const { nginxPid } = await controller.state();
  await eventually("it leads", () => cluster.api.get(collections.Lease, "default/ingress-controller-leader") !== undefined);
  cluster.api.intercept = () => true;
  cluster.api.freezeWatches();
  process.kill(pid, "SIGTERM");
  await eventually("controller and nginx have ended", () => !isAlive(pid) && !isAlive(nginxPid));
});
