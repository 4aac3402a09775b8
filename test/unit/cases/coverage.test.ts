import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { loadCases } from "../../cases/runner/case-files.ts";
import { fullRows, isOwn, sets } from "../../cases/runner/mentions.ts";

/** What no case can show, and the test that does. */
const elsewhere: Readonly<Record<string, { readonly file: string; readonly text: string }>> = {
  "enable-ocsp": { file: "test/dataplane/ocsp.test.ts", text: "stapled" },
  "use-http3": { file: "test/image/checks.ts", text: "serves-http3" },
  "use-geoip2": { file: "test/unit/settings/conf.test.ts", text: "use-geoip2" },
  "geoip2-autoreload-in-minutes": { file: "test/unit/settings/conf.test.ts", text: "geoip2-autoreload-in-minutes" },
  // cases have no collector
  ...Object.fromEntries(
    [
      ...["opentelemetry-operation-name", "otel-max-export-batch-size", "otel-max-queuesize", "otel-schedule-delay-millis"],
      ...["otel-service-name", "otlp-collector-host", "otlp-collector-port"],
    ].map((name) => [name, { file: "test/e2e/tracing.test.ts", text: `"${name}"` }]),
  ),
};

test("every row with its full effect has a case of the project's own", () => {
  const own = loadCases([resolve("test/cases")])
    .map((file) => file.case)
    .filter(isOwn);
  const bare = fullRows().filter((row) => !own.some((one) => sets(one, row)));
  const shown = bare.filter(({ name }) => {
    const other = elsewhere[name];
    return other !== undefined && readFileSync(resolve(other.file), "utf8").includes(other.text);
  });
  expect(bare.filter((row) => !shown.includes(row)).map(({ table, name }) => `${table} ${name}`)).toEqual([]);
});
