import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { geoDatabases } from "../../control/plan/geoip.ts";
import {
  backendDocument,
  byName,
  DataPlane,
  type Echo,
  generalDocument,
  hostDocument,
  moduleFiles,
  routeDocument,
  startUpstream,
  type Upstream,
} from "../kit/data-plane.ts";
import { geoDatabase } from "../kit/geo-database.ts";

let folder: string;
let plane: DataPlane;
let a: Upstream;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-geo-"));
  const country = join(folder, "GeoLite2-Country.mmdb");
  const asn = join(folder, "GeoLite2-ASN.mmdb");
  writeFileSync(country, geoDatabase({ "127.0.0.0/8": { country: { iso_code: "TL", names: { en: "Testland" } } } }));
  writeFileSync(asn, geoDatabase({ "10.0.0.0/8": { autonomous_system_number: 64_500 } }));
  const files = [
    { edition: "GeoLite2-Country", path: country, stamp: "1" },
    { edition: "GeoLite2-ASN", path: asn, stamp: "1" },
  ];
  a = await startUpstream("a");
  plane = await DataPlane.start((view) => ({
    ...view,
    paths: { ...view.paths, modules: [...view.paths.modules, ...moduleFiles("ngx_http_geoip2_module")] },
    geo: geoDatabases(files, 1),
    requestHeaders: [
      { name: "X-Country", value: "$geoip2_country_code $geoip2_country_name" },
      { name: "X-Asn", value: "asn=$geoip2_asn" },
    ],
  }));
  const host = hostDocument("app.test", [routeDocument("/", "a")]);
  await plane.apply({ hosts: byName(host), backends: byName(backendDocument("a", [a])), general: generalDocument });
});

afterAll(async () => {
  await plane?.stop();
  await a?.close();
  rmSync(folder, { recursive: true, force: true });
});

test("variables say where the client's address lies; an unknown address leaves them empty", async () => {
  const { headers } = JSON.parse((await plane.get("app.test", "/")).body) as Echo;
  expect(headers).toMatchObject({ "x-country": "TL Testland", "x-asn": "asn=" });
});
