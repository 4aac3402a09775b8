/** All clients of the soak, in a process of their own. */

import { http1Clients } from "./http1-clients.ts";
import { http2Clients } from "./http2-clients.ts";
import { Counter, type Tally } from "./tally.ts";
import { websocketClients } from "./websocket-clients.ts";

export type LoadOrder = { readonly kind: "start" } | { readonly kind: "stop" };

/** By name of the client. */
export type LoadReport = Readonly<Record<string, Tally>>;

const clients = [...http1Clients, ...http2Clients, ...websocketClients];

/** Body of the process: starts when told, and reports once it has been told to stop and everything under way has ended. */
export function serveLoad(): void {
  let over = false;
  const running: Promise<void>[] = [];
  const counters = new Map(clients.map(({ name }) => [name, new Counter()]));
  process.on("disconnect", () => process.exit(0));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
  process.on("message", (order: LoadOrder) => {
    if (order.kind === "start") {
      for (const { name, loops, run } of clients) {
        for (let index = 0; index < loops; index++) running.push(run(index, () => over, counters.get(name)!));
      }
      return;
    }
    over = true;
    void Promise.all(running).then(() => {
      const report: LoadReport = Object.fromEntries([...counters].map(([name, counter]) => [name, counter.tally]));
      process.send!(report);
    });
  });
}
