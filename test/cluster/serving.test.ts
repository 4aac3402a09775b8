import { afterAll, beforeAll, expect, test } from "vitest";
import { get as ask } from "../kit/client.ts";
import { eventually } from "./control-plane.ts";
import { type ControllerPod, deployment, ingress, World } from "./world.ts";

const world = new World();
let pod: ControllerPod;

beforeAll(async () => {
  await world.start();
  pod = await world.startController(0, ["--publish-service=ingress-nginx/publish"]);
}, 180_000);

afterAll(() => world.stop(), 60_000);

interface Answer {
  readonly status: number;
  readonly pod?: string;
  readonly version?: string;
}

async function get(host: string, at = pod): Promise<Answer> {
  const { status, headers, body } = await ask({ port: at.httpPort, host });
  return { status, ...(headers["content-type"] === "application/json" ? JSON.parse(body) : {}) };
}

test("a Deployment, a Service and an Ingress are served; edits, scaling and deletion follow", async () => {
  await world.mustApply(...deployment("web", 3, "v1"), ingress("web", "web.test", "web"));
  await eventually("web.test answers", async () => (await get("web.test")).version === "v1");
  const pods = new Set<string | undefined>();
  await eventually("each of the three pods answers", async () => pods.add((await get("web.test")).pod).size === 3);
  await world.mustApply(ingress("web", "web2.test", "web"));
  await eventually("the new host answers", async () => (await get("web2.test")).status === 200);
  expect((await get("web.test")).status).toBe(404);
  await world.mustKubectl(["scale", "deployment/web", "--replicas=0"]);
  await eventually("without pods it answers 503", async () => (await get("web2.test")).status === 503);
  await world.mustKubectl(["delete", "ingress", "web"]);
  await eventually("the host is gone", async () => (await get("web2.test")).status === 404);
});

test("the API server dies and comes back: serving goes on, nothing is lost", async () => {
  await world.mustApply(...deployment("stay", 2, "v1"), ingress("stay", "stay.test", "stay"));
  await eventually("stay.test answers", async () => (await get("stay.test")).status === 200);
  await world.plane.killApi();
  for (let i = 0; i < 20; i += 1) expect((await get("stay.test")).status).toBe(200);
  await world.plane.startApi();
  await world.mustApply(ingress("later", "later.test", "stay"));
  await eventually("what came later is served", async () => (await get("later.test")).status === 200);
});

test("a history that was compacted while the API server was away is no hindrance", async () => {
  await world.mustApply(ingress("old", "old.test", "stay"));
  await eventually("old.test answers", async () => (await get("old.test")).status === 200);
  process.kill(world.node.pid(`ingress-nginx/${pod.name}`), "SIGSTOP");
  try {
    await world.mustKubectl(["delete", "ingress", "old"]);
    await world.mustApply(ingress("new", "new.test", "stay"));
    await world.plane.killApi();
    await world.plane.compact();
    await world.plane.startApi();
  } finally {
    process.kill(world.node.pid(`ingress-nginx/${pod.name}`), "SIGCONT");
  }
  await eventually("the new one is served", async () => (await get("new.test")).status === 200);
  await eventually("the old one is not", async () => (await get("old.test")).status === 404);
});

function inNamespace(namespace: string, object: object): object {
  const { metadata, ...rest } = object as { readonly metadata: object };
  return { ...rest, metadata: { ...metadata, namespace } };
}

const moved = { "nginx.ingress.kubernetes.io/permanent-redirect": "https://moved.test/" };

test("with a namespace selector, namespaces are served while they have the label", async () => {
  const team = await world.startController(2, ["--watch-namespace-selector=team=shop", "--election-id=ingress-nginx-leader"]);
  await world.mustKubectl(["create", "namespace", "shop"]);
  await world.mustApply(inNamespace("shop", ingress("shop", "shop.test", "none", { annotations: moved })));
  await eventually("the other controller serves all namespaces", async () => (await get("shop.test")).status === 301);
  expect((await get("shop.test", team)).status).toBe(404);
  await world.mustKubectl(["label", "namespace", "shop", "team=shop"]);
  await eventually("the label brings it in", async () => (await get("shop.test", team)).status === 301);
  await world.mustKubectl(["label", "namespace", "shop", "team-"]);
  await eventually("without the label it is out", async () => (await get("shop.test", team)).status === 404);
  expect((await get("shop.test")).status).toBe(301);
  await world.stopController(team.name);
});

test("controllers side by side: each serves its classes, and writes the status of its own Ingresses", async () => {
  const spec = { controller: "edge.test/controller" };
  await world.mustApply({ apiVersion: "networking.k8s.io/v1", kind: "IngressClass", metadata: { name: "edge" }, spec });
  const flags = ["--ingress-class=edge", "--controller-class=edge.test/controller", "--election-id=ingress-nginx-leader"];
  const edge = await world.startController(3, [...flags, "--publish-status-address=192.0.2.3"]);
  await world.mustApply(
    ingress("ours", "ours.test", "none", { annotations: moved }),
    ingress("theirs", "theirs.test", "none", { annotations: moved, class: "edge" }),
  );
  await eventually("the first serves its own", async () => (await get("ours.test")).status === 301);
  await eventually("the second serves its own", async () => (await get("theirs.test", edge)).status === 301);
  expect([(await get("theirs.test")).status, (await get("ours.test", edge)).status]).toEqual([404, 404]);
  const address = (name: string) => world.mustKubectl(["get", "ingress", name, "-o", "jsonpath={.status.loadBalancer.ingress[*].ip}"]);
  await eventually(
    "both have their addresses",
    async () => (await address("theirs")) === "192.0.2.3" && (await address("ours")) === "198.51.100.9",
  );
  // It goes from one to the other when its class does.
  await world.mustKubectl(["patch", "ingress", "ours", "--type=merge", "-p", '{"spec":{"ingressClassName":"edge"}}']);
  await eventually("the second has it", async () => (await get("ours.test", edge)).status === 301);
  await eventually("the first has not", async () => (await get("ours.test")).status === 404);
  await eventually("its address is the second's", async () => (await address("ours")) === "192.0.2.3");
  await world.stopController(edge.name);
});

test("with the rights of one namespace only, that namespace is served", async () => {
  await world.mustKubectl(["delete", "clusterrolebinding", "ingress-nginx"]);
  await world.mustApply(inNamespace("ingress-nginx", ingress("inside", "inside.test", "web", { annotations: moved })));
  pod = await world.startController(1, ["--watch-namespace=ingress-nginx"]);
  await eventually("the Ingress of the namespace is served", async () => (await get("inside.test")).status === 301);
  expect((await get("later.test")).status).toBe(404);
});
