/** Demo pods on addresses and a port that nobody else uses. */

import type { ChildProcess } from "node:child_process";
import { freePorts } from "../../build/free-ports.ts";
import { end, type Pod, spawnPods } from "../../build/processes.ts";

export interface Pods {
  readonly all: readonly Pod[];
  of(app: string): readonly Pod[];
  stop(): Promise<void>;
}

/** As many pods for each app as said, on two ports: the first half on one, the rest on the other if `twoPorts`. */
export async function startPods(counts: Readonly<Record<string, number>>, twoPorts = false): Promise<Pods> {
  const [first, second] = await freePorts(2);
  const all = Object.entries(counts).flatMap(([app, count], group) =>
    Array.from({ length: count }, (_, index): Pod => {
      const port = twoPorts && index >= count / 2 ? second! : first!;
      return { app, name: `${app}-${index + 1}`, address: `127.41.${group + 1}.${index + 1}`, port };
    }),
  );
  const child: ChildProcess = await spawnPods(all);
  return {
    all,
    of: (app) => all.filter((pod) => pod.app === app),
    stop: async () => {
      await end(child);
    },
  };
}
