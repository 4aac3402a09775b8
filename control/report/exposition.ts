/** Prometheus' text format. */

export const prefix = "nginx_ingress_controller_";

export function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/** `name="value",…` */
export function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(",");
}

/** A number as Go prints it, since queries name buckets by the text of `le`: 1e+06, 1e-05. */
export function boundText(bound: number): string {
  const size = Math.abs(bound);
  if (size === 0 || (size >= 1e-4 && size < 1e6)) return String(bound);
  return bound.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

export interface Sample {
  /** Of labelText; "" for none. */
  readonly labels: string;
  readonly value: number;
}

/** One metric with all its samples; "" without any. `name` is complete. */
export function family(name: string, type: "gauge" | "counter", help: string, samples: readonly Sample[]): string {
  if (samples.length === 0) return "";
  const lines = samples.map(({ labels, value }) => `${name}${labels === "" ? "" : `{${labels}}`} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}
