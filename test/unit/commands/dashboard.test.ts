import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { requestHistograms } from "../../../lua-src/wire.ts";

/** Everything that /metrics can print under our prefix is named in one of these files. */
const sources = ["metrics.ts", "model-metrics.ts", "nginx-process.ts"]
  .map((name) => readFileSync(`control/report/${name}`, "utf8"))
  .join("\n");
const dashboard = readFileSync("deploy/grafana/sluice.json", "utf8");

test("the dashboard asks for metrics that exist", () => {
  const asked = new Set([...dashboard.matchAll(/nginx_ingress_controller_([a-z_]+)/g)].map((m) => m[1] ?? ""));
  expect(asked.size).toBeGreaterThan(15);
  const histograms = requestHistograms.map(({ name }) => name as string);
  const base = (name: string) => name.replace(/_(bucket|sum|count)$/, "");
  const exists = (name: string) =>
    name === "requests" ||
    histograms.includes(base(name)) ||
    sources.includes(`"${name}"`) ||
    sources.includes(`}${name}\``) ||
    sources.includes(`}${base(name)}\``) ||
    sources.includes(`"${name.replace("nginx_process_", "")}"`);
  expect([...asked].filter((name) => !exists(name))).toEqual([]);
});
