/** Spans: taken from the workers, sent to the collector that the ConfigMap names. */

import type { Built } from "../build/build.ts";
import { collectorOf } from "../features/telemetry.ts";
import type { ObjectRef } from "../model/ids.ts";
import type { Board } from "../report/board.ts";
import { SpanExporter } from "../report/otlp.ts";
import { listenForSpans } from "../report/span-socket.ts";
import type { Layout } from "../run/layout.ts";
import type { Logger } from "../run/logger.ts";

export interface TracingOptions {
  readonly layout: Layout;
  /** User of nginx's workers; undefined: our own. */
  readonly user: string | undefined;
  readonly configMap: ObjectRef;
  readonly version: string;
  readonly board: Board;
  readonly logger: Logger;
}

/** Rejects when the socket cannot be made. */
export async function openTracing({ layout, user, configMap, version, board, logger }: TracingOptions) {
  let missing: string | undefined;
  let problem: string | undefined;
  const report = () => {
    const text = problem ?? missing;
    const at = "data.otlp-collector-host";
    board.set("tracing", text === undefined ? [] : [{ code: "spans-unsent", about: configMap, at, text }]);
  };
  const exporter = new SpanExporter({
    version,
    pod: process.env.POD_NAME ?? "",
    onProblem: (found) => {
      problem = found;
      report();
    },
  });
  const socket = await listenForSpans({
    path: layout.spanSocket,
    user,
    logger: logger.named("tracing"),
    take: (count, spans) => exporter.take(count, spans),
  });
  return {
    built({ settings: { values } }: Built): void {
      const collector = collectorOf(values);
      const unheard = values["enable-opentelemetry"] && collector === undefined;
      missing = unheard ? "there is no collector: backends learn of traces, no span is kept" : undefined;
      exporter.aim(collector);
      report();
    },
    async stop(): Promise<void> {
      await socket.stop();
      await exporter.stop();
    },
  };
}
