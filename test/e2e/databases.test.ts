import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Controller, eventually } from "../kit/controller.ts";
import { type DatabaseMirror, databaseArchive, startDatabaseMirror } from "../kit/fixtures/database-mirror.ts";
import { geoDatabase } from "../kit/geo-database.ts";
import { ingressClass } from "../kit/manifests.ts";

let controller: Controller;
let mirror: DatabaseMirror;
let dir: string;

const asn = geoDatabase({ "127.0.0.0/8": { autonomous_system_number: 64_500 } });

beforeAll(async () => {
  const city = geoDatabase({ "127.0.0.0/8": { country: { iso_code: "TL" } } });
  mirror = await startDatabaseMirror({ "/GeoLite2-City.tar.gz": [databaseArchive("GeoLite2-City.mmdb", city)] });
  dir = mkdtempSync(join(tmpdir(), "sluice-geo-"));
  controller = await Controller.create([`--maxmind-mirror=${mirror.url}`, `--geoip-dir=${join(dir, "not/there/yet")}`]);
  controller.write("base.json", [
    ingressClass,
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "sluice", namespace: "default" }, data: { "use-geoip2": "true" } },
  ]);
  await controller.start();
});

afterAll(async () => {
  await controller?.stop();
  await mirror?.close();
  rmSync(dir, { recursive: true, force: true });
});

function conf(): string {
  return readFileSync(join(controller.runtimeDir, "private/nginx.conf"), "utf8");
}

async function codes(): Promise<readonly string[]> {
  return (await controller.findings()).map((finding) => finding.code);
}

test("databases are fetched at the start; what cannot be fetched is a finding, and is used once it is put there", async () => {
  await eventually("the city's variables are there", () => conf().includes("$geoip2_city_country_code"));
  await eventually("a finding names the other one", async () =>
    (await controller.findings()).some(
      (f) => f.code === "download-failed" && f.text === "GeoLite2-ASN cannot be fetched: the server answered 404",
    ),
  );
  const city = /geoip2 "?([^" ]+)GeoLite2-City[.]mmdb/.exec(conf())?.[1];
  expect(city).toMatch(/not\/there\/yet\/$/);
  expect(conf()).not.toContain("$geoip2_asn");
  expect(await codes()).toContain("database-missing");
  writeFileSync(join(city!, "GeoLite2-ASN.mmdb"), asn);
  await eventually("its variables are there", () => conf().includes("$geoip2_asn"));
  await eventually("nothing is missing", async () => !(await codes()).includes("database-missing"));
});
