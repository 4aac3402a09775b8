import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
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

/** Not fetch: it sets the Host header itself. */
function get(host: string, path = "/"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request({ host: "127.0.0.1", port: pod.httpPort, path, headers: { host } }, (response) => {
      let text = "";
      response.on("data", (part: Buffer) => {
        text += part.toString();
      });
      response.on("error", reject);
      response.on("end", () => {
        const body = response.headers["content-type"] === "application/json" ? JSON.parse(text) : {};
        resolve({ status: response.statusCode ?? 0, ...body });
      });
    });
    call.on("error", reject);
    call.end();
  });
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

test("with the rights of one namespace only, that namespace is served", async () => {
  await world.mustKubectl(["delete", "clusterrolebinding", "ingress-nginx"]);
  const inside = { ...(ingress("inside", "inside.test", "web") as { metadata: object }) };
  await world.mustApply({
    ...inside,
    metadata: {
      ...inside.metadata,
      namespace: "ingress-nginx",
      annotations: { "nginx.ingress.kubernetes.io/permanent-redirect": "https://moved.test/" },
    },
  });
  pod = await world.startController(1, ["--watch-namespace=ingress-nginx"]);
  await eventually("the Ingress of the namespace is served", async () => (await get("inside.test")).status === 301);
  expect((await get("later.test")).status).toBe(404);
});
