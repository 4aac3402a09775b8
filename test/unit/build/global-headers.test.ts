import { expect, test } from "vitest";
import { globalHeaders } from "../../../control/build/global-headers.ts";
import { variablesMadeBy } from "../../../control/catalog/nginx-variables.ts";
import { resolveSettings } from "../../../control/catalog/settings.ts";
import type { Finding } from "../../../control/model/finding.ts";
import { Objects } from "../../../control/objects/objects.ts";
import { RecordingLook } from "../../../control/objects/references.ts";
import type { ConfigMap } from "../../../control/source/kinds.ts";

const main = { kind: "ConfigMap", namespace: "default", name: "main" };

function headers(named: string, data?: Readonly<Record<string, string>>) {
  const objects = new Objects();
  const metadata = { namespace: "default", name: "extra", uid: "u", annotations: {}, labels: {} };
  if (data !== undefined) objects.change([{ type: "upsert", object: { kind: "ConfigMap", metadata, data } as unknown as ConfigMap }]);
  const look = new RecordingLook(objects);
  const findings: Finding[] = [];
  const { values } = resolveSettings({ "add-headers": named }, main);
  const read = () => globalHeaders("add-headers", values, main, look, findings);
  const list = read();
  expect(read(), "the same object gives the same list: nginx.conf is compared by it").toBe(list);
  return { list, codes: new Set(findings.map((f) => `${f.code} ${f.about.name} ${f.at}`)), asked: [...look.asked] };
}

test("entries that nginx would refuse are left out, each with a finding", () => {
  const data = { "X-Good": "$host", "X Bad": "1", "X-Line": "a\nb", "X-Variable": "$nobody", "X-Dollar": "5$" };
  const { list, codes } = headers("default/extra", data);
  expect(list).toEqual([{ name: "X-Good", value: "$host" }]);
  expect([...codes].sort()).toEqual(["X Bad", "X-Dollar", "X-Line", "X-Variable"].map((name) => `setting-invalid extra data.${name}`));
});

test("a ConfigMap that is not there adds nothing, and is waited for", () => {
  const { list, codes, asked } = headers("default/extra");
  expect(list).toEqual([]);
  expect([...codes]).toEqual(["reference-missing main data.add-headers"]);
  expect(asked).toHaveLength(1);
  expect(asked[0]).toContain("extra");
});

test("a name without namespace names nothing", () => {
  expect(headers("extra", { "X-Good": "1" })).toMatchObject({ list: [], asked: [] });
});

test("variables that an administrator's text makes are known by their directives", () => {
  const text = `
    map $a $One { default 1; }  geo $two { default 0; }  geo $addr $three { default 0; }
    split_clients "$a$b" $four { 50% x; * y; }  geoip2 /db.mmdb { $five default=x source=$a city names en; }
    if ($no) { set $six $seven; }  log_format x "$eight";`;
  expect(variablesMadeBy(text)).toEqual(["one", "two", "three", "four", "five", "six"]);
  expect(variablesMadeBy("map $a $b {")).toEqual([]);
});
