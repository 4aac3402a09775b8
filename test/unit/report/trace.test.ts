import { expect, test } from "vitest";
import type { Backend } from "../../../control/model/backend.ts";
import { traceBackend, traceBackends, traceEvents } from "../../../control/report/trace.ts";
import { createLogger } from "../../../control/run/logger.ts";
import { objectOf } from "../../kit/build-input.ts";
import { backendDocument } from "../../kit/data-plane.ts";

const backend: Backend = {
  id: "default-app-80",
  document: backendDocument("default-app-80", []),
  endpoints: { kind: "slices", namespace: "default", service: "app", port: { name: "http", number: 80, target: 8080, protocol: "TCP" } },
  source: { kind: "Service", namespace: "default", name: "app" },
} as unknown as Backend;

/** The first words of the lines at that verbosity. */
function spoken(verbosity: number): string {
  const lines: string[] = [];
  const logger = createLogger(verbosity, { write: (line) => lines.push(line.replace(/^.*?\] /, "").trimEnd()) });
  const data = { "tls.key": Buffer.from("private").toString("base64") };
  const secret = objectOf("Secret", { metadata: { name: "key", namespace: "default" }, type: "kubernetes.io/tls", data });
  traceEvents(logger, [
    { type: "upsert", object: secret },
    { type: "delete", kind: "IngressClass", namespace: "", name: "nginx" },
  ]);
  traceBackends(logger, ["default-app-80"]);
  traceBackend(logger, backend, [
    { address: "10.0.0.1", port: "8080" },
    { address: "2001:db8::1", port: "8080" },
  ]);
  return lines.join("\n");
}

test("up to 2 nothing of it, at 3 backends with their endpoints, at 5 each event with its object", () => {
  expect(spoken(2)).toBe("");
  const three = [
    'Creating upstream upstream="default-app-80"',
    'Getting Endpoints from endpointSlices for Service service="default/app" port="80"',
    'Endpoints found for Service service="default/app" port="80" upstream="default-app-80" endpoints=["10.0.0.1:8080","[2001:db8::1]:8080"]',
  ].join("\n");
  expect(spoken(3)).toBe(three);
  expect(spoken(4)).toBe(three);
  const five = spoken(5);
  expect(five.endsWith(three)).toBe(true);
  expect(five).toContain('Event received type="UPDATE" kind="Secret" object="default/key" content="{');
  expect(five).toContain('Event received type="DELETE" kind="IngressClass" object="nginx"\n');
});

test("what a Secret holds is not shown", () => {
  const text = spoken(9);
  expect(text).toContain('\\"tls.key\\":\\"[redacted]\\"');
  expect(text).not.toContain(Buffer.from("private").toString("base64"));
  expect(text).not.toContain("private");
});
