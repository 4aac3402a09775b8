import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { selfSigned } from "../kit/certificates.ts";
import { get } from "../kit/client.ts";
import { Controller, eventually } from "../kit/controller.ts";
import { configMap, endpointSlices, ingress, ingressClass, service, tlsSecret } from "../kit/manifests.ts";
import { type Pods, startPods } from "../kit/pods.ts";

let controller: Controller;
let pods: Pods;
const certificate = selfSigned("app.test");

async function scrape(): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${controller.ports.healthz}/metrics`);
  expect(answer.status).toBe(200);
  return await answer.text();
}

beforeAll(async () => {
  pods = await startPods({ app: 1 });
  controller = await Controller.create(["--enable-metrics", "--exclude-socket-metrics=nginx_ingress_controller_bytes_sent"]);
  controller.write("class.json", [ingressClass]);
  controller.write("app.json", [
    service("app"),
    ...endpointSlices("app", pods.of("app")),
    tlsSecret("app", certificate.certificate, certificate.key),
  ]);
  controller.write("host.json", [ingress("app", { host: "app.test", paths: { "/": "app", "/gone": "gone" }, tlsSecret: "app" })]);
  await controller.start();
});

afterAll(async () => {
  await controller?.stop();
  await pods?.stop();
});

test("the names that dashboards know are there, and a removed Ingress takes its series with it", async () => {
  await get({ port: controller.ports.https, host: "app.test", tls: true });
  let text = "";
  await eventually("the request is counted", async () => {
    text = await scrape();
    return text.includes("nginx_ingress_controller_requests{");
  });
  const prefix = "nginx_ingress_controller_";
  const names = [
    ...["requests", "request_duration_seconds_bucket", "connect_duration_seconds_sum", "header_duration_seconds_count"],
    ...["response_duration_seconds_bucket", "request_size_bucket", "response_size_bucket", "build_info", "config_hash"],
    ...["config_last_reload_successful", "config_last_reload_successful_timestamp_seconds", "orphan_ingress"],
    ...["ssl_expire_time_seconds", "ssl_certificate_info", "nginx_process_connections_total", "nginx_process_connections"],
    ...["nginx_process_requests_total", "nginx_process_num_procs", "nginx_process_cpu_seconds_total", "nginx_process_read_bytes_total"],
    ...["nginx_process_write_bytes_total", "nginx_process_resident_memory_bytes", "nginx_process_virtual_memory_bytes"],
    ...["nginx_process_oldest_start_time_seconds"],
  ];
  const missing = names.filter((name) => !new RegExp(`^${prefix}${name}[{ ]`, "m").test(text));
  expect(missing).toEqual([]);
  expect(text).not.toContain(`${prefix}bytes_sent`);
  expect(text).toMatch(/orphan_ingress\{[^}]*ingress="app",type="no-service"\} 1/);
  expect(text).toMatch(
    /ssl_expire_time_seconds\{namespace="default",class="k8s.io\/ingress-nginx",host="app.test",secret_name="app",[^}]*\} \d{10}/,
  );
  expect(text).toMatch(/^promhttp_metric_handler_requests_total\{code="200"\} \d+$/m);
  expect(text).toMatch(/nginx_process_num_procs\{[^}]*\} [2-9]/);
  await controller.apply("host.json", [ingress("other", { host: "other.test", paths: { "/": "app" } })]);
  expect(await scrape()).not.toContain('ingress="app"');
});

async function value(name: string): Promise<number> {
  return Number(new RegExp(`^nginx_ingress_controller_${name}\\{[^}]*\\} (\\S+)$`, "m").exec(await scrape())?.[1]);
}

test("a failed reload is told until what nginx refused is taken back, also when that needs no reload", async () => {
  const reloads = await value("success");
  expect(reloads).toBeGreaterThanOrEqual(0);
  expect(await value("errors")).toBe(0);
  const hash = await value("config_hash");
  await controller.apply("config.json", [configMap({ "log-format-upstream": "$no_such_variable" })]);
  await eventually("the failure is told", async () => (await value("config_last_reload_successful")) === 0);
  expect(await value("errors")).toBe(1);
  expect(await value("config_hash")).toBe(0);
  await controller.apply("host.json", [ingress("third", { host: "third.test", paths: { "/": "app" } })]);
  expect(await value("config_last_reload_successful")).toBe(0);
  await controller.apply("config.json", [configMap({})]);
  await eventually("nothing stands against it any more", async () => (await value("config_last_reload_successful")) === 1);
  expect(await value("success")).toBe(reloads);
  expect(await value("config_hash")).toBe(hash);
});

/** Requests by Ingress and status, of these Ingresses. */
async function answers(names: readonly string[]): Promise<string[]> {
  const lines = (await scrape()).matchAll(/^nginx_ingress_controller_requests\{[^}]*status="(\d+)"[^}]*ingress="([^"]*)"[^}]*\} (\d+)$/gm);
  return [...lines].flatMap(([, status, name = "", count]) => (names.includes(name) ? [`${name} ${status} ${count}`] : [])).sort();
}

test("answers that snippets give, and errors for which there is no error backend, are counted as well", async () => {
  const snippets = { "allow-snippet-annotations": "true", "annotations-risk-level": "Critical" };
  await controller.apply("config.json", [configMap({ ...snippets, "custom-http-errors": "403,503" })]);
  const hosts = [
    ingress("returns", { host: "returns.test", paths: { "/": "app" }, annotations: { "configuration-snippet": "return 410;" } }),
    ingress("denies", { host: "denies.test", paths: { "/": "app" }, annotations: { "configuration-snippet": "deny all;" } }),
    ingress("list", { host: "list.test", paths: { "/": "app" }, annotations: { "whitelist-source-range": "10.0.0.0/8" } }),
    ingress("lost", { host: "lost.test", paths: { "/": "gone" } }),
  ];
  await controller.apply("host.json", hosts);
  const names = ["returns", "denies", "list", "lost"];
  const seen = await Promise.all(names.map(async (name) => (await get({ port: controller.ports.http, host: `${name}.test` })).status));
  // without a backend for error pages they are 404
  expect(seen).toEqual([410, 404, 404, 404]);
  await eventually("all are counted", async () => (await answers(names)).length === names.length);
  expect(await answers(names)).toEqual(["denies 404 1", "list 404 1", "lost 404 1", "returns 410 1"]);
});

/** Metric → names of its labels, by what is printed. */
function printed(text: string): Map<string, Set<string>> {
  const all = new Map<string, Set<string>>();
  for (const [, name = "", labels = ""] of text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm)) {
    all.set(name, new Set([...labels.matchAll(/(\w+)="/g)].map(([, label = ""]) => label)));
  }
  return all;
}

test("the dashboard asks for metrics and labels that are printed", async () => {
  await get({ port: controller.ports.https, host: "app.test", tls: true });
  await controller.apply("host.json", [ingress("app", { host: "app.test", paths: { "/": "app" }, tlsSecret: "app" })]);
  await get({ port: controller.ports.https, host: "app.test", tls: true });
  await eventually("the request is counted", async () => (await scrape()).includes("response_duration_seconds_bucket{"));
  const known = printed(await scrape());
  const dashboard = readFileSync("deploy/grafana/sluice.json", "utf8").replaceAll('\\"', '"');
  const asked = [...dashboard.matchAll(/((?:nginx_ingress_controller|process)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = "", selector = ""]) => ({
      name,
      labels: [...selector.matchAll(/(\w+)(?:=|!=|=~|!~)"/g)].map(([, label = ""]) => label),
    }),
  );
  expect(asked.length).toBeGreaterThan(30);
  const missing = asked.flatMap(({ name, labels }) => {
    const has = known.get(name);
    return has === undefined ? [name] : labels.filter((label) => !has.has(label)).map((label) => `${name} ${label}`);
  });
  expect(missing).toEqual([]);
});
