/** Steady requests beside what a test does, each checked. */

import { setTimeout as pause } from "node:timers/promises";
import { type Call, get, keepAliveAgent, type Reply } from "./client.ts";

export interface LoadReport {
  readonly requests: number;
  /** What was wrong and how often. */
  readonly failures: Readonly<Record<string, number>>;
}

export interface Load {
  /** Resolves when this many more requests have been answered. */
  more(count: number): Promise<void>;
  /** Ends after the requests under way. */
  stop(): Promise<LoadReport>;
}

export interface LoadOptions {
  /** Sent in turn by each loop. */
  readonly calls: readonly Call[];
  /** What one request has that the others do not. */
  readonly stamp?: (call: Call, number: number) => Call;
  /** Between two requests of a loop; default 0. */
  readonly pauseMs?: number;
  /** Loops at the same time; default 4. */
  readonly loops?: number;
  /** What is wrong with a reply; default: any status but 200. */
  readonly judge?: (reply: Reply, call: Call) => string | undefined;
}

export function notOk(reply: Reply): string | undefined {
  return reply.status === 200 ? undefined : `status ${reply.status}`;
}

export function startLoad(options: LoadOptions): Load {
  const judge = options.judge ?? notOk;
  const failures: Record<string, number> = {};
  let requests = 0;
  let sent = 0;
  let running = true;
  const waiting = new Set<{ readonly until: number; readonly done: () => void }>();

  async function one(call: Call): Promise<void> {
    const problem = await get(call).then((reply) => judge(reply, call), errorText);
    requests++;
    if (problem !== undefined) {
      const key = `${call.host}${call.path ?? "/"}: ${problem}`;
      failures[key] = (failures[key] ?? 0) + 1;
    }
    for (const waiter of waiting) {
      if (requests < waiter.until) continue;
      waiting.delete(waiter);
      waiter.done();
    }
  }

  async function loop(offset: number): Promise<void> {
    const agents = { plain: keepAliveAgent(false), tls: keepAliveAgent(true) };
    for (let turn = offset; running; turn++) {
      const call = options.calls[turn % options.calls.length]!;
      sent++;
      const stamped = options.stamp?.(call, sent) ?? call;
      await one({ agent: call.tls === true ? agents.tls : agents.plain, ...stamped });
      if (options.pauseMs !== undefined) await pause(options.pauseMs);
    }
    agents.plain.destroy();
    agents.tls.destroy();
  }

  const loops = Array.from({ length: options.loops ?? 4 }, (_, index) => loop(index));
  return {
    more: (count) => new Promise((done) => waiting.add({ until: requests + count, done })),
    stop: async () => {
      running = false;
      await Promise.all(loops);
      return { requests, failures };
    },
  };
}

function errorText(error: Error & { readonly code?: string }): string {
  return error.code ?? error.message;
}
