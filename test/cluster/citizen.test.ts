import { afterAll, beforeAll, expect, test } from "vitest";
import { get } from "../kit/client.ts";
import { startLoad } from "../kit/load.ts";
import { eventually } from "./control-plane.ts";
import { deployment, ingress, World } from "./world.ts";

const world = new World();

interface Ingress {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] } };
}

interface EventList {
  readonly items: readonly {
    readonly type: string;
    readonly reason: string;
    readonly message: string;
    readonly count: number;
    readonly involvedObject: { readonly kind: string; readonly name: string; readonly uid?: string };
  }[];
}

beforeAll(async () => {
  await world.start();
  await world.mustApply(...deployment("web", 1, "v1"));
}, 180_000);

afterAll(() => world.stop(), 60_000);

async function addresses(name: string): Promise<string> {
  const { status } = await world.get<Ingress>("ingress", "default", name);
  return (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname).join();
}

async function holder(): Promise<string> {
  const lease = await world.get<{ readonly spec: { readonly holderIdentity: string } }>(
    "lease",
    "ingress-nginx",
    "ingress-controller-leader",
  );
  return lease.spec.holderIdentity;
}

async function events(namespace: string, name: string): Promise<EventList["items"]> {
  const { items } = await world.get<EventList>("events", namespace);
  return items.filter(({ involvedObject }) => involvedObject.name === name);
}

test("the status follows the published Service, and is taken away when the last replica goes", async () => {
  await world.startController(0, ["--publish-service=ingress-nginx/publish"]);
  await world.mustApply(ingress("web", "web.test", "web"), ingress("foreign", "foreign.test", "web", { class: "foreign" }));
  await eventually("the external address is there", async () => (await addresses("web")) === "198.51.100.9");
  const load = { status: { loadBalancer: { ingress: [{ ip: "203.0.113.7" }, { hostname: "lb.example.test" }, { ip: "2001:db8::7" }] } } };
  await world.mustKubectl([
    "-n",
    "ingress-nginx",
    "patch",
    "service",
    "publish",
    "--subresource=status",
    "--type=merge",
    "-p",
    JSON.stringify(load),
  ]);
  const all = (await addresses("web")).split(",");
  expect(all.length).toBeGreaterThan(0);
  await eventually("all addresses are there", async () => {
    const now = (await addresses("web")).split(",").sort();
    return now.join() === "198.51.100.9,2001:db8::7,203.0.113.7,lb.example.test";
  });
  expect(await addresses("foreign")).toBe("");
  const versions = async () =>
    (await world.get<{ readonly metadata: { readonly resourceVersion: string } }>("ingress", "default", "web")).metadata.resourceVersion;
  const before = await versions();
  await world.mustApply(ingress("other", "other.test", "web"));
  await eventually("the other one has its status", async () => (await addresses("other")) !== "");
  expect(await versions()).toBe(before);
  await world.stopController("sluice-0");
  // More than one address: another cluster may share them.
  expect(await addresses("web")).not.toBe("");
});

test("one address is cleared by the last replica", async () => {
  await world.startController(0, ["--publish-status-address=192.0.2.1"]);
  await eventually("the fixed address is there", async () => (await addresses("web")) === "192.0.2.1");
  await world.stopController("sluice-0");
  expect(await addresses("web")).toBe("");
});

test("without a flag the address is that of the nodes", async () => {
  await world.startController(0, []);
  await eventually("the node's external address is there", async () => (await addresses("web")) === "203.0.113.1");
  await world.stopController("sluice-0");
  await world.startController(0, ["--report-node-internal-ip-address", "--update-status-on-shutdown=false"]);
  await eventually("the node's internal address is there", async () => (await addresses("web")) === "10.0.0.1");
  await world.stopController("sluice-0");
  expect(await addresses("web")).toBe("10.0.0.1");
});

test("of two replicas one leads; the other one takes over when it is killed, and at once when it leaves", async () => {
  await world.startController(0, ["--publish-status-address=192.0.2.1"]);
  await eventually("the first one leads", async () => (await holder()) === "sluice-0");
  await world.mustApply(ingress("steady", "steady.test", "web"));
  const { httpPort } = await world.startController(1, ["--publish-status-address=192.0.2.1"]);
  expect(await holder()).toBe("sluice-0");
  await eventually("the second one serves", async () => (await get({ port: httpPort, host: "steady.test" })).status === 200);
  const load = startLoad({ calls: [{ port: httpPort, host: "steady.test" }], loops: 2, pauseMs: 5 });
  process.kill(world.node.pid("ingress-nginx/sluice-0"), "SIGKILL");
  await eventually("the second one leads", async () => (await holder()) === "sluice-1");
  await world.mustApply(ingress("late", "late.test", "web"));
  await eventually("it writes the status", async () => (await addresses("late")) === "192.0.2.1");
  await load.more(20);
  const { requests, failures } = await load.stop();
  expect(requests).toBeGreaterThan(20);
  expect(failures).toEqual({});
  await world.mustKubectl(["-n", "ingress-nginx", "delete", "pod", "sluice-0", "--force", "--grace-period=0"]);
  await world.startController(2, ["--publish-status-address=192.0.2.1"]);
  await world.stopController("sluice-1");
  await eventually("the third one leads", async () => (await holder()) === "sluice-2");
  expect(await addresses("late")).toBe("192.0.2.1");
});

test("Events tell what was taken in and what is wrong, each once with a count", async () => {
  const bad = ingress("bad", "bad.test", "web", { annotations: { "nginx.ingress.kubernetes.io/x-forwarded-prefix": "a;b" } });
  await world.mustApply(bad);
  await eventually("the bad annotation has its Event", async () =>
    (await events("default", "bad")).some(
      ({ reason, type, message }) => reason === "AnnotationParsingFailed" && type === "Warning" && message.includes("x-forwarded-prefix"),
    ),
  );
  const sync = (await events("default", "bad")).filter(({ reason }) => reason === "Sync");
  expect(sync).toHaveLength(1);
  expect(sync[0]).toMatchObject({ type: "Normal", message: "Scheduled for sync", involvedObject: { kind: "Ingress" } });
  expect(sync[0]!.involvedObject.uid).toMatch(/^[0-9a-f-]{36}$/);
  await world.mustKubectl(["annotate", "ingress", "bad", "note=1"]);
  await eventually("the second sync is counted", async () =>
    (await events("default", "bad")).some(({ reason, count }) => reason === "Sync" && count === 2),
  );
  await world.mustKubectl([
    "-n",
    "ingress-nginx",
    "patch",
    "configmap",
    "ingress-nginx-controller",
    "--type=merge",
    "-p",
    '{"data":{"keep-alive":"61"}}',
  ]);
  await eventually("the ConfigMap's edit has its Event", async () =>
    (await events("ingress-nginx", "ingress-nginx-controller")).some(({ reason }) => reason === "UPDATE"),
  );
  await eventually("the reload has its Event", async () =>
    (await events("ingress-nginx", "sluice-2")).some(({ reason, type }) => reason === "RELOAD" && type === "Normal"),
  );
});
