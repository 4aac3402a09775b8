import { EventEmitter } from "node:events";
import type { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import type { ThreadStart, ToThread } from "../../../control/admission/thread-messages.ts";
import type { Trial, TrialAnswer } from "../../../control/apply/trial.ts";
import { openAdmission } from "../../../control/commands/admission.ts";
import type { Options } from "../../../control/options/flags.ts";
import { createLogger } from "../../../control/run/logger.ts";
import type { Sink } from "../../../control/source/source.ts";
import { objectOf } from "../../kit/build-input.ts";
import { admissionContext, ingress } from "../admission/objects.ts";

class FakeThread extends EventEmitter {
  readonly heard: ToThread[] = [];
  postMessage(message: ToThread): void {
    this.heard.push(message);
    if (message.kind === "stop") this.emit("exit");
  }
  /** Names of objects that it knows of, in order. */
  get names(): string[] {
    const events = this.heard.flatMap((m) => (m.kind === "change" ? m.events : []));
    return events.map((e) => (e.type === "upsert" ? `${e.object.kind} ${e.object.metadata.name}` : `no ${e.kind} ${e.name}`));
  }
}

const nowhere: Sink = { change: () => undefined, findings: () => undefined, synced: () => undefined };

async function open(listen = (thread: FakeThread): void => void thread.emit("message", { kind: "listens" })) {
  const threads: FakeThread[] = [];
  const { objects, options } = admissionContext([ingress({ name: "first" })]);
  const flags = { validatingWebhook: ":1", validatingWebhookCertificate: "/c", validatingWebhookKey: "/k", v: 0 } as Options;
  const trial = {
    folder: "/t",
    of: () => Promise.resolve<TrialAnswer>({ kind: "tested", refused: new Map(), expressions: new Map() }),
  } as unknown as Trial;
  const starts: ThreadStart[] = [];
  const spawn = (start: ThreadStart) => {
    // As it would be cloned on its way.
    starts.push(structuredClone(start));
    const thread = new FakeThread();
    threads.push(thread);
    setImmediate(() => listen(thread));
    return thread as unknown as Worker;
  };
  const logger = createLogger(0, { write: () => undefined });
  const admission = (await openAdmission({ options: flags, objects, trial, buildOptions: () => options, logger, spawn }))!;
  return { admission, threads, starts, objects };
}

test("the thread learns what is known and what changes; endpoints it need not know", async () => {
  const { admission, threads, objects } = await open();
  const sink = admission.sink({ ...nowhere, change: (events) => void objects.change(events) });
  const slice = objectOf("EndpointSlice", {
    metadata: { name: "echo-1", namespace: "default", labels: { "kubernetes.io/service-name": "echo" } },
    addressType: "IPv4",
    endpoints: [],
  });
  sink.change([{ type: "upsert", object: ingress({ name: "second" }) }]);
  sink.change([{ type: "upsert", object: slice }]);
  sink.change([{ type: "delete", kind: "Ingress", namespace: "default", name: "first" }]);
  sink.synced();
  expect(threads[0]?.names.slice(-3)).toEqual(["Ingress first", "Ingress second", "no Ingress first"]);
  expect(threads[0]?.heard.at(-1)).toEqual({ kind: "synced" });
  await admission.stop();
});

test("a thread that ends is started again and told all that the former one knew", async () => {
  const { admission, threads, objects } = await open();
  const sink = admission.sink({ ...nowhere, change: (events) => void objects.change(events) });
  sink.change([{ type: "upsert", object: ingress({ name: "second" }) }]);
  sink.readable?.("IngressClass", false);
  sink.synced();
  threads[0]?.emit("exit");
  await expect.poll(() => threads.length, { timeout: 30_000 }).toBe(2);
  expect(threads[1]?.names).toEqual(expect.arrayContaining(["Ingress first", "Ingress second"]));
  expect(threads[1]?.heard).toEqual(
    expect.arrayContaining([{ kind: "readable", of: "IngressClass", readable: false }, { kind: "synced" }]),
  );
  await admission.stop();
});

test("a question to nginx is answered to the thread that asked", async () => {
  const { admission, threads } = await open();
  const parts = { profiles: new Map(), servers: new Map(), streams: new Map() };
  threads[0]?.emit("message", { kind: "ask", id: 7, parts });
  await expect.poll(() => threads[0]?.heard.at(-1)).toMatchObject({ kind: "answer", id: 7, answer: { kind: "tested" } });
  await admission.stop();
});

test("a thread that cannot start is told to the user", async () => {
  const cannot = (thread: FakeThread): void => void thread.emit("message", { kind: "cannot", why: "no such certificate" });
  await expect(open(cannot)).rejects.toThrow("no such certificate");
});
