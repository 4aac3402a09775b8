import { setMaxListeners } from "node:events";
import { expect, test } from "vitest";
import { Leader, microTime } from "../../../control/cluster/leader.ts";
import type { Clock } from "../../../control/run/clock.ts";
import { createLogger } from "../../../control/run/logger.ts";
import { ApiError, type ApiServer } from "../../../control/source/api-server.ts";

interface Spec {
  holderIdentity: string;
  leaseDurationSeconds: number;
  renewTime: string;
  leaseTransitions: number;
}

/** One Lease with optimistic locking; `away` refuses everything. */
class LeaseApi {
  spec: Spec | undefined;
  version = 0;
  away = false;

  api(): ApiServer {
    return {
      url: "",
      get: async () => {
        this.#refuse();
        if (this.spec === undefined) throw new ApiError("none", 404, 0);
        return { metadata: { name: "lease", resourceVersion: String(this.version) }, spec: { ...this.spec } };
      },
      send: async (method, _path, body) => {
        this.#refuse();
        const { metadata, spec } = body as { metadata: { resourceVersion?: string }; spec: Spec };
        if (method === "PUT" && metadata.resourceVersion !== String(this.version)) throw new ApiError("conflict", 409, 0);
        this.spec = { ...spec };
        this.version += 1;
        return {};
      },
      stream: () => Promise.reject(new Error("not here")),
      close: () => undefined,
    };
  }

  #refuse(): void {
    if (this.away) throw new ApiError("away", undefined, 0);
  }
}

/** Time moves only when a test says so; each pause ends when its time has come. */
class TestClock implements Clock {
  time = Date.parse("2026-11-21T12:00:00Z");
  readonly #sleepers: { readonly at: number; readonly wake: () => void }[] = [];

  now(): number {
    return this.time;
  }

  pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      setMaxListeners(0, signal);
      signal.addEventListener("abort", () => resolve());
      if (signal.aborted) resolve();
      this.#sleepers.push({ at: this.time + ms, wake: resolve });
    });
  }

  async pass(ms: number): Promise<void> {
    for (const end = this.time + ms; this.time < end; ) {
      this.time = Math.min(end, this.time + 500);
      for (const sleeper of this.#sleepers) if (sleeper.at <= this.time) sleeper.wake();
      await settled();
    }
  }
}

async function settled(): Promise<void> {
  for (let i = 0; i < 5; i += 1) await new Promise((done) => setImmediate(done));
}

function leader(lease: LeaseApi, clock: Clock, identity: string, changes: string[]): Leader {
  return new Leader({
    api: lease.api(),
    namespace: "n",
    name: "lease",
    identity,
    ttlMs: 30_000,
    logger: createLogger(0, { write: () => undefined }),
    onChange: (leading) => changes.push(`${identity} ${leading}`),
    clock,
  });
}

test("the first one leads and renews, the second one waits until the Lease has run out", async () => {
  const [lease, clock, changes] = [new LeaseApi(), new TestClock(), [] as string[]];
  const a = leader(lease, clock, "a", changes);
  const b = leader(lease, clock, "b", changes);
  a.start();
  await settled();
  b.start();
  await clock.pass(120_000);
  expect(changes).toEqual(["a true"]);
  expect(lease.spec).toMatchObject({ holderIdentity: "a", leaseDurationSeconds: 30, leaseTransitions: 0 });
  expect(b.holder).toBe("a");
  await b.stop();
  await a.stop();
});

test("a Lease that nobody renews is taken over, and what it was is counted", async () => {
  const [lease, clock, changes] = [new LeaseApi(), new TestClock(), [] as string[]];
  lease.spec = { holderIdentity: "dead", leaseDurationSeconds: 30, renewTime: microTime(0), leaseTransitions: 4 };
  const b = leader(lease, clock, "b", changes);
  b.start();
  await clock.pass(29_000);
  expect(changes).toEqual([]);
  await clock.pass(20_000);
  expect(changes).toEqual(["b true"]);
  expect(lease.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 5 });
  await b.stop();
});

test("who stops gives the Lease back and another one leads at its next look", async () => {
  const [lease, clock, changes] = [new LeaseApi(), new TestClock(), [] as string[]];
  const a = leader(lease, clock, "a", changes);
  const b = leader(lease, clock, "b", changes);
  a.start();
  await settled();
  b.start();
  await settled();
  await a.stop();
  expect(lease.spec?.holderIdentity).toBe("");
  await clock.pass(10_000);
  expect(changes).toEqual(["a true", "a false", "b true"]);
  await b.stop();
});

test("away and back: it stops leading in time and leads again", async () => {
  const [lease, clock, changes] = [new LeaseApi(), new TestClock(), [] as string[]];
  const a = leader(lease, clock, "a", changes);
  a.start();
  await settled();
  lease.away = true;
  await clock.pass(60_000);
  lease.away = false;
  await clock.pass(10_000);
  expect(changes).toEqual(["a true", "a false", "a true"]);
  await a.stop();
});

test("times have six digits behind the second", () => {
  expect(microTime(Date.parse("2026-11-21T12:00:00.5Z"))).toBe("2026-11-21T12:00:00.500000Z");
});
