/** What requests hold, and what balancers learn, when a request ends elsewhere than at the peer that was picked first. */
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { internalLocations } from "../../control/plan/internal.ts";
import { type FeatureDocuments, names } from "../../lua-src/wire.ts";
import {
  backendDocument,
  byName,
  DataPlane,
  generalDocument,
  hostDocument,
  routeDocument,
  startUpstream,
  type Upstream,
} from "../kit/data-plane.ts";

let plane: DataPlane;
const open: Upstream[] = [];

const pages = { id: "pages", family: "http" as const, directives: pageDirectives() };

function pageDirectives() {
  return [
    { name: "error_page", args: ["500", "@error"] },
    { name: "proxy_intercept_errors", args: ["on"] },
  ];
}

async function upstream(name: string): Promise<Upstream> {
  const started = await startUpstream(name);
  open.push(started);
  return started;
}

/** Says when it gets a request, and answers once it is told to. */
async function waitingUpstream(): Promise<Upstream & { readonly asked: Promise<void>; readonly answer: () => void }> {
  let got = () => {};
  const asked = new Promise<void>((done) => {
    got = done;
  });
  let answer = () => {};
  const told = new Promise<void>((done) => {
    answer = done;
  });
  const server = http.createServer((_request, reply) => {
    got();
    void told.then(() => reply.end("done"));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((done) => server.close(() => done()));
  };
  const started = { address: "127.0.0.1", port: String((server.address() as AddressInfo).port), close, asked, answer };
  open.push(started);
  return started;
}

const steer = (answer: object) => ({ headers: { "x-answer": JSON.stringify(answer) } });

async function servers(host: string, times: number): Promise<Set<string>> {
  const seen = new Set<string>();
  for (let i = 0; i < times; i++) seen.add((JSON.parse((await plane.get(host, "/")).body) as { name: string }).name);
  return seen;
}

/** Two peers, of which ewma knows nothing yet; the first one, whenever it is asked, answers as it is told. */
async function serveLearning(host: string, features: FeatureDocuments, profile?: string): Promise<void> {
  await plane.apply({
    backends: byName(backendDocument(host, [await upstream("bad"), await upstream("good")], { "load-balance": "ewma" })),
    hosts: byName(hostDocument(host, [routeDocument("/", host, { measure: { end: true }, ...features }, { profile })])),
  });
}

beforeAll(async () => {
  plane = await DataPlane.start((view) => ({
    ...view,
    profiles: [pages],
    internal: internalLocations,
    metrics: {
      perHost: true,
      undefinedHosts: false,
      time: [],
      length: [],
      size: [],
      skip: [],
      socket: join(view.paths.runtimeDir, "metrics.sock"),
    },
  }));
  await plane.apply({ backends: byName(backendDocument(names.defaultBackend, [await upstream("pages")])), general: generalDocument });
});

afterAll(async () => {
  await plane?.stop();
  await Promise.all(open.map((up) => up.close()));
});

test("ewma learns from an answer that an error page replaces", async () => {
  await serveLearning("page.test", { customErrors: { pages: true } }, "pages");
  // both are asked: the one of which nothing is known has the better score
  for (let i = 0; i < 6; i++) await plane.get("page.test", "/", steer({ by: "bad", delay: 1500, status: 500 }));
  expect(await servers("page.test", 10)).toEqual(new Set(["good"]));
});

test("ewma learns from a try that failed as well as from the one that served", async () => {
  await serveLearning("try.test", { timeouts: { read: 1500 } });
  for (let i = 0; i < 6; i++) {
    expect((await plane.get("try.test", "/", steer({ by: "bad", delay: 10_000 }))).body).toContain('"good"');
  }
  expect(await servers("try.test", 10)).toEqual(new Set(["good"]));
});

test("X-Accel-Redirect: the client's place is taken to the end, the backend's part is over", async () => {
  const waiting = await waitingUpstream();
  const rateLimit = { zone: "accel", key: "$binary_remote_addr", connections: 1, requestStatus: 503, connectionStatus: 429 };
  await plane.apply({
    backends: byName(backendDocument("app", [await upstream("app")], { maxInFlight: 1 }), backendDocument("files", [waiting])),
    hosts: byName(
      hostDocument("accel.test", [
        routeDocument("/", "app", { rateLimit, inFlight: { limited: true } }),
        routeDocument("/files/", "files"),
        routeDocument("/unlimited/", "app", { inFlight: { limited: true } }),
      ]),
    ),
  });
  const redirected = plane.get("accel.test", "/", steer({ by: "app", headers: { "x-accel-redirect": "/files/x" } }));
  await waiting.asked;
  expect((await plane.get("accel.test", "/")).status).toBe(429);
  expect((await plane.get("accel.test", "/unlimited/")).status).toBe(200);
  waiting.answer();
  expect((await redirected).body).toBe("done");
  // the place is given back in the log phase, which follows the answer
  await plane.accessLine('"GET / HTTP/1.1" 200');
  expect((await plane.get("accel.test", "/")).status).toBe(200);
});
