import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { downloadDatabases, type GeoDownload } from "../../../control/run/geoip-download.ts";
import { type DatabaseMirror, databaseArchive, startDatabaseMirror } from "../../kit/fixtures/database-mirror.ts";
import { geoDatabase } from "../../kit/geo-database.ts";

let folder: string;
let mirror: DatabaseMirror | undefined;

const database = geoDatabase({ "127.0.0.0/8": { country: { iso_code: "TL" } } });
// several blocks, and no whole number of them
const large = Buffer.concat([Buffer.alloc(300_001, 7), database]);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-geo-"));
});

afterEach(async () => {
  await mirror?.close();
  mirror = undefined;
  rmSync(folder, { recursive: true, force: true });
});

async function fetchAll(
  answers: Parameters<typeof startDatabaseMirror>[0],
  over: Partial<GeoDownload> = {},
): Promise<Record<string, string | undefined>> {
  mirror = await startDatabaseMirror(answers);
  const outcome: Record<string, string | undefined> = {};
  await downloadDatabases({
    mirror: `${mirror.url}/db/`,
    licenseKey: "",
    editions: ["GeoLite2-City"],
    tries: 1,
    pause: 0,
    folders: [folder],
    signal: new AbortController().signal,
    onDone: (edition, problem) => {
      outcome[edition] = problem;
    },
    ...over,
  });
  return outcome;
}

const city = "/db/GeoLite2-City.tar.gz";

test("each edition's database comes out of its archive; what cannot be had keeps nobody else from theirs", async () => {
  const answers = { [city]: [databaseArchive("GeoLite2-City.mmdb", large)], "/db/GeoLite2-ASN.tar.gz": [404] };
  const outcome = await fetchAll(answers, { editions: ["GeoLite2-ASN", "GeoLite2-City"] });
  expect(outcome).toEqual({ "GeoLite2-ASN": "the server answered 404", "GeoLite2-City": undefined });
  expect(readFileSync(join(folder, "GeoLite2-City.mmdb")).equals(large)).toBe(true);
  expect(readdirSync(folder)).toEqual(["GeoLite2-City.mmdb"]);
});

test("as many tries as wanted, and no more", async () => {
  const archive = databaseArchive("GeoLite2-City.mmdb", database);
  expect(await fetchAll({ [city]: [503, 503, archive] }, { tries: 3, pause: 1 })).toEqual({ "GeoLite2-City": undefined });
  await mirror?.close();
  rmSync(join(folder, "GeoLite2-City.mmdb"));
  expect(await fetchAll({ [city]: [503, 503, archive] }, { tries: 2 })).toEqual({ "GeoLite2-City": "the server answered 503" });
  expect(mirror?.asked).toEqual([city, city]);
});

test("what is no archive, is cut short or holds no database replaces nothing", async () => {
  const file = join(folder, "GeoLite2-City.mmdb");
  writeFileSync(file, "the old one");
  const whole = databaseArchive("GeoLite2-City.mmdb", large);
  const bad = {
    "no gzip": Buffer.from("<html>please sign in</html>"),
    "cut short": whole.subarray(0, whole.length - 60),
    "another edition": databaseArchive("GeoLite2-ASN.mmdb", database),
    "no database": databaseArchive("GeoLite2-City.mmdb", Buffer.alloc(3000, "x")),
  };
  for (const [what, body] of Object.entries(bad)) {
    expect((await fetchAll({ [city]: [body] }))["GeoLite2-City"], what).toBeTypeOf("string");
    await mirror?.close();
    expect(readFileSync(file, "utf8"), what).toBe("the old one");
    expect(readdirSync(folder), what).toEqual(["GeoLite2-City.mmdb"]);
  }
});

test("the first folder that can be written to is used", async () => {
  writeFileSync(join(folder, "file"), "");
  const second = join(folder, "made");
  const answers = { [city]: [databaseArchive("GeoLite2-City.mmdb", database)] };
  await fetchAll(answers, { folders: [join(folder, "file/geoip"), second] });
  expect(existsSync(join(second, "GeoLite2-City.mmdb"))).toBe(true);
  await mirror?.close();
  expect((await fetchAll(answers, { folders: [join(folder, "file/geoip")] }))["GeoLite2-City"]).toMatch(/cannot write/);
});

test("the licence key is in no message", async () => {
  const key = "secret key";
  const outcome = await fetchAll({}, { mirror: `http://127.0.0.1:1/${encodeURIComponent(key)} ${key}`, licenseKey: key });
  expect(outcome["GeoLite2-City"]).toBeTypeOf("string");
  expect(outcome["GeoLite2-City"]).not.toMatch(/secret/);
});
