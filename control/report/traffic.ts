/** Request metrics: lines of the workers are added up here and printed for Prometheus, without ever holding the event loop long. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { type MetricsLine, type MetricsSettings, requestHistograms } from "../../lua-src/wire.ts";
import { Bytes } from "./bytes.ts";
import { boundText, labelText, prefix } from "./exposition.ts";

export interface TrafficOptions {
  readonly settings: MetricsSettings;
  /** Labels of this controller, as text. */
  readonly labels: string;
  /** 2xx instead of 200. */
  readonly statusClasses: boolean;
}

interface Series {
  readonly labels: string;
  /** namespace/name, "" for what no Ingress asked for. */
  readonly ingress: string;
  requests: number;
  /** As in MetricsLine, counted from 0. */
  readonly counters: Float64Array;
}

interface Histogram {
  readonly name: string;
  readonly help: string;
  readonly begin: number;
  /** What follows the series' labels in each bucket's line, +Inf the last. */
  readonly bounds: readonly Uint8Array[];
}

const seriesPerPiece = 100;
const help: Readonly<Record<string, string>> = {
  request_duration_seconds: "Time from the first bytes of the request to the last of the answer, seconds.",
  connect_duration_seconds: "Time to connect to the upstream, seconds.",
  header_duration_seconds: "Time until the upstream's header had come, seconds.",
  response_duration_seconds: "Time until the upstream's answer had come, seconds.",
  request_size: "Length of the request with its header, bytes.",
  response_size: "Bytes sent to the client.",
  bytes_sent: "Bytes sent to the client; response_size has the same.",
};

export class Traffic {
  readonly #o: TrafficOptions;
  readonly #series = new Map<string, Series>();
  readonly #histograms: readonly Histogram[];
  readonly #size: number;
  #ingresses: ReadonlySet<string> | undefined;

  constructor(options: TrafficOptions) {
    this.#o = options;
    const histograms: Histogram[] = [];
    let next = 0;
    for (const { name, buckets } of requestHistograms) {
      if (options.settings.skip.includes(name)) continue;
      const bounds = [...options.settings[buckets].map(boundText), "+Inf"].map((bound) => Buffer.from(`,le="${bound}"} `));
      histograms.push({ name: prefix + name, help: help[name] ?? "", begin: next, bounds });
      next += bounds.length + 1;
    }
    this.#histograms = histograms;
    this.#size = next;
  }

  get count(): number {
    return this.#series.size;
  }

  add(line: MetricsLine): void {
    const [host, namespace, ingress, service, path, canary, method, code, changes] = line;
    const owner = ingress === "" ? "" : `${namespace}/${ingress}`;
    // a last line of an Ingress that is gone must not bring its series back
    if (owner !== "" && this.#ingresses !== undefined && !this.#ingresses.has(owner)) return;
    // as $status has it: 000 where there was no answer
    const status = this.#o.statusClasses ? `${Math.floor(code / 100)}xx` : String(code).padStart(3, "0");
    const key = [host, owner, service, path, canary, method, status].join("\n");
    let series = this.#series.get(key);
    if (series === undefined) {
      const labels = { status, method, path, namespace, ingress, service, canary, ...(this.#o.settings.perHost ? { host } : {}) };
      series = {
        labels: `${this.#o.labels},${labelText(labels)}`,
        ingress: owner,
        requests: 0,
        counters: new Float64Array(this.#size),
      };
      this.#series.set(key, series);
    }
    for (let i = 0; i + 1 < changes.length; i += 2) {
      const place = changes[i] as number;
      const by = changes[i + 1] as number;
      if (place === 0) series.requests += by;
      else if (place <= this.#size) series.counters[place - 1] = (series.counters[place - 1] ?? 0) + by;
    }
  }

  /** Series of other Ingresses (namespace/name) go. */
  retain(ingresses: ReadonlySet<string>): void {
    this.#ingresses = ingresses;
    for (const [key, { ingress }] of this.#series) if (ingress !== "" && !ingresses.has(ingress)) this.#series.delete(key);
  }

  /** Each piece is good until the next but one is asked for. */
  async *pieces(): AsyncGenerator<string | Buffer> {
    const all = [...this.#series.values()];
    const out = new Bytes(64 * 1024);
    if (!this.#o.settings.skip.includes("requests")) {
      yield `# HELP ${prefix}requests Requests that were answered.\n# TYPE ${prefix}requests counter\n`;
      yield* inPieces(out, all, (s) => {
        out.text(`${prefix}requests{${s.labels}} `);
        out.number(s.requests);
      });
    }
    for (const histogram of this.#histograms) {
      yield `# HELP ${histogram.name} ${histogram.help}\n# TYPE ${histogram.name} histogram\n`;
      yield* inPieces(out, all, (s) => writeHistogram(out, s, histogram));
    }
  }
}

async function* inPieces(out: Bytes, all: readonly Series[], write: (series: Series) => void): AsyncGenerator<Buffer> {
  for (let from = 0; from < all.length; from += seriesPerPiece) {
    for (const series of all.slice(from, from + seriesPerPiece)) write(series);
    yield out.take();
    await nextTurn();
  }
}

/** Nothing for a series that the histogram never saw, such as upstream times of redirects. */
function writeHistogram(out: Bytes, { labels, counters }: Series, { name, begin, bounds }: Histogram): void {
  const end = begin + bounds.length;
  let total = 0;
  for (let place = begin; place < end; place++) total += counters[place]!;
  if (total === 0) return;
  const from = out.length;
  out.text(`${name}_bucket{${labels}`);
  const to = out.length;
  let below = 0;
  for (const [i, bound] of bounds.entries()) {
    if (i > 0) out.again(from, to);
    below += counters[begin + i]!;
    out.bytes(bound);
    out.number(below);
  }
  out.text(`${name}_sum{${labels}} `);
  out.number(counters[end]!);
  out.text(`${name}_count{${labels}} `);
  out.number(total);
}
