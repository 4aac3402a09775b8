/** The controller's own metrics, under the names that users' dashboards know. */

import { collectDefaultMetrics, Registry } from "prom-client";
import type { CheckedIngress } from "../admission/counts.ts";
import type { ApplyState } from "../apply/apply-options.ts";
import type { Model } from "../model/model.ts";
import { escapeLabel, family, labelText, prefix } from "./exposition.ts";
import { modelText } from "./model-metrics.ts";
import { NginxProcesses } from "./nginx-process.ts";
import type { Traffic } from "./traffic.ts";

export interface MetricsOptions {
  readonly namespace: string;
  readonly pod: string;
  readonly controllerClass: string;
  readonly version: string;
  readonly state: () => ApplyState;
  /** Only go-like process metrics when false (--enable-metrics). */
  readonly enabled: boolean;
  readonly statusPort: number;
  readonly syncs: () => { readonly syncs: number; readonly syncSeconds: number };
  /** Of the last build; undefined before the first. */
  readonly model: () => { readonly model: Model; readonly empty: ReadonlySet<string> } | undefined;
  /** Undefined: there is no election. */
  readonly leadership: () => { readonly name: string; readonly leads: boolean } | undefined;
  /** Undefined: there is no webhook. */
  readonly admission: () => AdmissionMetrics | undefined;
  /** Undefined without --enable-metrics. */
  readonly traffic: Traffic | undefined;
}

interface AdmissionMetrics {
  readonly last: { readonly tested: number; readonly seconds: number } | undefined;
  all(): Iterable<CheckedIngress>;
}

/** Labels that every metric of this controller has. */
export function controllerLabels(options: Pick<MetricsOptions, "namespace" | "pod" | "controllerClass">): string {
  const { namespace, controllerClass, pod } = options;
  return labelText({ controller_namespace: namespace, controller_class: controllerClass, controller_pod: pod });
}

interface Series {
  readonly name: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
  readonly value: (state: ApplyState) => number;
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
    help: "0 while the last reload failed and what nginx refused is still wanted.",
    value: (s) => (s.lastReloadOk ? 1 : 0),
  },
  {
    name: "config_last_reload_successful_timestamp_seconds",
    type: "gauge",
    help: "Unix time of the last successful reload.",
    value: (s) => s.lastSuccess / 1000,
  },
  // from the start: increase() does not see the first of a series that begins with it
  { name: "success", type: "counter", help: "Reloads of nginx that succeeded.", value: (s) => s.reloads },
  { name: "errors", type: "counter", help: "Reloads of nginx that failed.", value: (s) => s.failedReloads },
  {
    name: "configuration_version",
    type: "gauge",
    help: "Version of the documents that the data plane acknowledged.",
    value: (s) => s.version,
  },
];

export function createMetrics(options: MetricsOptions): () => Promise<{ contentType: string; pieces: AsyncIterable<string | Buffer> }> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const labels = controllerLabels(options);
  const processes = new NginxProcesses(options.statusPort, labels);
  let [running, done] = [0, 0];
  async function* pieces(): AsyncGenerator<string | Buffer> {
    running += 1;
    try {
      yield await registry.metrics();
      yield scrapes(running, done);
      if (!options.enabled) return;
      yield own(options, labels);
      yield await processes.text(options.state().nginxPid);
      const built = options.model();
      const isLeader = options.leadership()?.leads ?? true;
      if (built !== undefined) {
        yield modelText(built.model, { controllerClass: options.controllerClass, labels, isLeader, empty: built.empty });
      }
      if (options.traffic !== undefined) yield* options.traffic.pieces();
    } finally {
      running -= 1;
      done += 1;
    }
  }
  return async () => ({ contentType: registry.contentType, pieces: pieces() });
}

function scrapes(running: number, done: number): string {
  const codes = ["200", "500", "503"].map((code) => ({ labels: `code="${code}"`, value: code === "200" ? done : 0 }));
  return (
    family("promhttp_metric_handler_requests_in_flight", "gauge", "Scrapes that are being answered.", [{ labels: "", value: running }]) +
    family("promhttp_metric_handler_requests_total", "counter", "Scrapes that were answered.", codes)
  );
}

function own(options: MetricsOptions, labels: string): string {
  const state = options.state();
  const build = `${labels},release="${escapeLabel(options.version)}",build="",repository="sluice"`;
  const parts = [family(`${prefix}build_info`, "gauge", "Version of this controller.", [{ labels: build, value: 1 }])];
  for (const { name, type, help, value } of series) parts.push(family(prefix + name, type, help, [{ labels, value: value(state) }]));
  const election = options.leadership();
  if (election !== undefined) {
    const sample = { labels: `${labels},${labelText({ name: election.name })}`, value: election.leads ? 1 : 0 };
    parts.push(family(`${prefix}leader_election_status`, "gauge", "1 on the replica that leads.", [sample]));
  }
  const { syncs, syncSeconds } = options.syncs();
  const name = `${prefix}sync_seconds`;
  parts.push(`# HELP ${name} Time from a batch of changes to their application, seconds.\n# TYPE ${name} summary\n`);
  parts.push(`${name}_sum{${labels}} ${syncSeconds}\n${name}_count{${labels}} ${syncs}\n`);
  parts.push(admissionText(options.admission(), labels));
  return parts.join("");
}

function admissionText(admission: AdmissionMetrics | undefined, labels: string): string {
  if (admission === undefined) return "";
  const checked = [...admission.all()].map((c) => ({
    ...c,
    labels: `${labels},${labelText({ namespace: c.namespace, ingress: c.name })}`,
  }));
  const counted = (of: "admitted" | "refused") => checked.filter((c) => c[of] > 0).map((c) => ({ labels: c.labels, value: c[of] }));
  const { last } = admission;
  const gauge = (name: string, help: string, value: number) => family(`${prefix}admission_${name}`, "gauge", help, [{ labels, value }]);
  return [
    family(`${prefix}check_success`, "counter", "Ingresses that the webhook admitted.", counted("admitted")),
    family(`${prefix}check_errors`, "counter", "Ingresses that the webhook refused.", counted("refused")),
    gauge("tested_ingresses", "Ingresses built in the last check.", last?.tested ?? 0),
    gauge("tested_duration", "Duration of the last check's build, seconds.", last?.seconds ?? 0),
    gauge("render_ingresses", "Ingresses built in the last check.", last?.tested ?? 0),
    gauge("render_duration", "Duration of the last check's preparation; building includes it, so 0.", 0),
    gauge("config_size", "Bytes of configuration that the last check rendered: none is.", 0),
    gauge("roundtrip_duration", "Duration of the last check, seconds.", last?.seconds ?? 0),
  ].join("");
}
