/** Request metrics of one controller: the store and the socket that fills it. */

import type { Built } from "../build/build.ts";
import type { Options } from "../options/flags.ts";
import { controllerLabels } from "../report/metrics.ts";
import { listenForMetrics } from "../report/metrics-socket.ts";
import { Traffic } from "../report/traffic.ts";
import type { Layout } from "../run/layout.ts";
import type { Logger } from "../run/logger.ts";
import { metricsSettings } from "./surroundings.ts";

export interface TrafficWatch {
  readonly traffic: Traffic;
  /** Series of Ingresses that are gone go with them. */
  built(built: Built): void;
  stop(): Promise<void>;
}

/** Undefined without --enable-metrics. */
export async function watchTraffic(
  options: Options,
  layout: Layout,
  user: string | undefined,
  logger: Logger,
): Promise<TrafficWatch | undefined> {
  if (!options.enableMetrics) return undefined;
  const labels = controllerLabels({
    namespace: process.env.POD_NAMESPACE ?? "",
    pod: process.env.POD_NAME ?? "",
    controllerClass: options.controllerClass,
  });
  const settings = metricsSettings(options, layout);
  const traffic = new Traffic({ settings, labels, statusClasses: options.reportStatusClasses });
  const socket = await listenForMetrics({ path: layout.metricsSocket, user, logger, take: (line) => traffic.add(line) });
  return {
    traffic,
    built: ({ accepted }) => traffic.retain(new Set(accepted.map(({ ref }) => `${ref.namespace}/${ref.name}`))),
    stop: () => socket.stop(),
  };
}
