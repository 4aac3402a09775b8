/** The controller's own metrics, under the names that users' dashboards know. */

import { collectDefaultMetrics, Registry } from "prom-client";
import type { ApplyState } from "../apply/apply.ts";

export interface MetricsOptions {
  readonly namespace: string;
  readonly pod: string;
  readonly controllerClass: string;
  readonly version: string;
  readonly state: () => ApplyState;
  /** Only go-like process metrics when false (--enable-metrics). */
  readonly enabled: boolean;
}

const prefix = "nginx_ingress_controller";

interface Series {
  readonly name: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
  readonly value: (state: ApplyState) => number | undefined;
}

const series: readonly Series[] = [
  {
    name: "config_hash",
    type: "gauge",
    help: "Hash of the nginx configuration that runs, as a number.",
    value: (s) => (s.lastReloadOk ? Number.parseInt(s.conf.slice(0, 12) || "0", 16) : 0),
  },
  {
    name: "config_last_reload_successful",
    type: "gauge",
    help: "1 when the last reload succeeded.",
    value: (s) => (s.lastReloadOk ? 1 : 0),
  },
  {
    name: "config_last_reload_successful_timestamp_seconds",
    type: "gauge",
    help: "Unix time of the last successful reload.",
    value: (s) => s.lastSuccess / 1000,
  },
  { name: "success", type: "counter", help: "Reloads of nginx that succeeded.", value: (s) => (s.reloads > 0 ? s.reloads : undefined) },
  {
    name: "errors",
    type: "counter",
    help: "Reloads of nginx that failed.",
    value: (s) => (s.failedReloads > 0 ? s.failedReloads : undefined),
  },
  {
    name: "configuration_version",
    type: "gauge",
    help: "Version of the documents that the data plane acknowledged.",
    value: (s) => s.version,
  },
];

export function createMetrics(options: MetricsOptions): () => Promise<{ contentType: string; pieces: Iterable<string> }> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const labels = `controller_namespace="${escapeLabel(options.namespace)}",controller_class="${escapeLabel(options.controllerClass)}",controller_pod="${escapeLabel(options.pod)}"`;
  return async () => {
    const pieces = [await registry.metrics()];
    if (options.enabled) pieces.push(own(options, labels));
    return { contentType: registry.contentType, pieces };
  };
}

function own(options: MetricsOptions, labels: string): string {
  const state = options.state();
  const lines = [
    `# HELP ${prefix}_build_info Version of this controller.`,
    `# TYPE ${prefix}_build_info gauge`,
    `${prefix}_build_info{${labels},release="${escapeLabel(options.version)}",build="",repository="sluice"} 1`,
  ];
  for (const s of series) {
    const value = s.value(state);
    if (value === undefined) continue;
    lines.push(`# HELP ${prefix}_${s.name} ${s.help}`, `# TYPE ${prefix}_${s.name} ${s.type}`, `${prefix}_${s.name}{${labels}} ${value}`);
  }
  return `${lines.join("\n")}\n`;
}

function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
