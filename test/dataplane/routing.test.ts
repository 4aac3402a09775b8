import { afterAll, beforeAll, expect, test } from "vitest";
import { backendDocument, byName, DataPlane, type Echo, hostDocument, type Reply, routeDocument, startUpstream, type Upstream } from "../kit/data-plane.ts";

let plane: DataPlane;
let a: Upstream;
let b: Upstream;

function echo(reply: Reply): Echo {
  expect(reply.status).toBe(200);
  return JSON.parse(reply.body) as Echo;
}

beforeAll(async () => {
  a = await startUpstream("a");
  b = await startUpstream("b");
  plane = await DataPlane.start();
  await plane.apply({ backends: byName(backendDocument("a", [a]), backendDocument("b", [b])) });
});

afterAll(async () => {
  await plane?.stop();
  await Promise.all([a?.close(), b?.close()]);
});

test("a request reaches the backend of its host with the usual headers", async () => {
  await plane.apply({ hosts: byName(hostDocument("app.test", [routeDocument("/", "a")])) });
  const seen = echo(await plane.get("app.test:8080", "/x%2Fy//z%20?q=1&r=%20"));
  expect(seen).toMatchObject({ name: "a", uri: "/x%2Fy//z%20?q=1&r=%20" });
  expect(seen.headers).toMatchObject({ host: "app.test:8080", "x-forwarded-host": "app.test:8080", "x-forwarded-proto": "http", "x-real-ip": "127.0.0.1" });
});
