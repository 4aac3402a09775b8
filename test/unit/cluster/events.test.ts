import { expect, test } from "vitest";
import { type EventObject, EventRecorder } from "../../../control/cluster/events.ts";
import { eventOfFinding } from "../../../control/cluster/finding-events.ts";
import { createLogger } from "../../../control/run/logger.ts";
import { ApiError, type ApiServer } from "../../../control/source/api-server.ts";

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

function recorder(sent: Sent[], refuse: (call: Sent) => number = () => 0): EventRecorder {
  const api = {
    send: async (method: string, path: string, body: unknown) => {
      const call = { method, path, body: body as Sent["body"] };
      sent.push(call);
      const status = refuse(call);
      if (status > 0) throw new ApiError("refused", status, 0);
      return {};
    },
  } as unknown as ApiServer;
  return new EventRecorder({ api, instance: "sluice-0", logger: createLogger(0, { write: () => undefined }) });
}

const web: EventObject = { apiVersion: "networking.k8s.io/v1", kind: "Ingress", namespace: "shop", name: "web", uid: "u" };
const sync = { type: "Normal", reason: "Sync", message: "Scheduled for sync" } as const;

test("a new Event is made, its repetition counted on", async () => {
  const sent: Sent[] = [];
  const events = recorder(sent);
  for (let i = 0; i < 3; i += 1) events.record(web, sync);
  await events.stop(1000);
  expect(sent.map(({ method }) => method)).toEqual(["POST", "PATCH", "PATCH"]);
  expect(sent[0]!.path).toBe("/api/v1/namespaces/shop/events");
  expect(sent[0]!.body).toMatchObject({ involvedObject: web, ...sync, source: { component: "nginx-ingress-controller" }, count: 1 });
  const { name } = sent[0]!.body.metadata as { name: string };
  expect(name).toMatch(/^web\.[0-9a-f]+$/);
  expect(sent[2]).toMatchObject({ path: `/api/v1/namespaces/shop/events/${name}`, body: { count: 3 } });
});

test("an Event that has expired is made again", async () => {
  const sent: Sent[] = [];
  const events = recorder(sent, ({ method }) => (method === "PATCH" ? 404 : 0));
  events.record(web, sync);
  events.record(web, sync);
  await events.stop(1000);
  expect(sent.map(({ method }) => method)).toEqual(["POST", "PATCH", "POST"]);
});

test("one object cannot flood the API server, others are not held up by it", async () => {
  const sent: Sent[] = [];
  const events = recorder(sent);
  for (let i = 0; i < 100; i += 1) events.record(web, { ...sync, message: String(i) });
  events.record({ ...web, name: "other" }, sync);
  await events.stop(1000);
  expect(sent).toHaveLength(26);
});

test("a refused Event does not stop those behind it; long messages are cut; cluster-scoped objects go to default", async () => {
  const sent: Sent[] = [];
  const events = recorder(sent, ({ body }) => (body.message === "first" ? 403 : 0));
  events.record(web, { ...sync, message: "first" });
  events.record({ ...web, namespace: "", name: "class" }, { ...sync, message: "x".repeat(5000) });
  await events.stop(1000);
  expect(sent).toHaveLength(2);
  expect(sent[1]!.path).toBe("/api/v1/namespaces/default/events");
  expect(sent[1]!.body.message).toHaveLength(1024);
});

test("findings: annotation trouble has the reason that alerts know, the rest its code", () => {
  const about = { kind: "Ingress", namespace: "shop", name: "web" };
  expect(eventOfFinding({ code: "annotation-invalid", about, at: "x", text: "bad" })).toEqual({
    type: "Warning",
    reason: "AnnotationParsingFailed",
    message: "Error parsing annotations: x: bad",
  });
  expect(eventOfFinding({ code: "service-missing", about, at: "", text: "there is none" })).toMatchObject({ reason: "ServiceMissing" });
});
