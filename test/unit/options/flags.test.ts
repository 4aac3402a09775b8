import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { flagRows, klogRows } from "../../../control/options/flag-rows.ts";
import { parseDuration } from "../../../control/options/flag-value.ts";
import { namespacedName, type Options, parseFlags, usage, withoutEffect } from "../../../control/options/flags.ts";

function ok(...argv: string[]): Options {
  const parsed = parseFlags(argv);
  if ("error" in parsed) throw new Error(parsed.error);
  return parsed.ok;
}

function error(...argv: string[]): string {
  const parsed = parseFlags(argv);
  return "error" in parsed ? parsed.error : "accepted";
}

test("without flags the defaults hold", () => {
  const options = ok();
  expect(options).toMatchObject({ httpPort: 80, ingressClass: "nginx", updateStatus: true, electionTtl: 30_000, syncRateLimit: 0.3, v: 0 });
  expect(options.sizeBuckets).toEqual([10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000]);
  expect(options.given.size).toBe(0);
});

test("values follow = or a space, a bool stands alone or has = only", () => {
  expect(ok("--http-port=81", "--https-port", "444", "--disable-catch-all", "--update-status=false")).toMatchObject({
    httpPort: 81,
    httpsPort: 444,
    disableCatchAll: true,
    updateStatus: false,
  });
  const trap = ok("--update-status", "false");
  expect(trap.updateStatus).toBe(true);
  expect(trap.rest).toEqual(["false"]);
  expect(ok("--configmap", "--odd=value").configmap).toBe("--odd=value");
  expect(ok("--configmap=").configmap).toBe("");
});

test("verbosity has all the forms that pflag knows", () => {
  for (const argv of [["-v=5"], ["-v", "5"], ["-v5"], ["--v=5"], ["--v", "5"]]) expect(ok(...argv).v).toBe(5);
  expect(ok("-h").help).toBe(true);
});

test("what is no flag is an error that names it", () => {
  expect(error("--nonsense=1")).toBe("unknown flag: --nonsense");
  expect(error("-http-port=1")).toBe("bad flag syntax: -http-port=1 (a long flag begins with two dashes)");
  expect(error("-version")).toContain("two dashes");
  expect(error("-hx")).toBe("unknown shorthand flag: 'x' in -hx");
  expect(error("-x")).toBe("unknown shorthand flag: 'x' in -x");
  expect(error("---x")).toBe("bad flag syntax: ---x");
  expect(error("--http-port")).toBe("flag needs an argument: --http-port");
  expect(error("-v")).toBe("flag needs an argument: 'v' in -v");
  expect(error("--http-port=80x")).toContain('invalid argument "80x" for "--http-port" flag');
  expect(error("--http-port=0")).toContain("must be between 1 and 65535");
  expect(error("--update-status=yes")).toContain("not true or false");
  expect(error("--constructor=1")).toBe("unknown flag: --constructor");
});

test("flags that exclude or need each other", () => {
  expect(error("--watch-namespace=a", "--watch-namespace-selector=b=c")).toContain("exclude each other");
  expect(error("--publish-service=a/b", "--publish-status-address=1.2.3.4")).toContain("exclude each other");
  expect(error("--metrics-per-undefined-host", "--metrics-per-host=false")).toContain("needs --metrics-per-host");
  expect(error("--maxmind-edition-ids=GeoLite2-Planet")).toContain("GeoLite2-Planet");
  expect(error("--default-backend-service=web")).toContain("namespace/name");
  expect(error("--health-check-path=health")).toContain("must begin with");
});

test("lists are separated by commas, and repeating the flag adds", () => {
  expect(ok("--time-buckets=0.1,1,1e1", "--time-buckets=20").timeBuckets).toEqual([0.1, 1, 10, 20]);
  expect(ok("--nameservers=127.0.0.1:53,::1").nameservers).toEqual(["127.0.0.1:53", "::1"]);
  expect(error("--time-buckets=0.1,x")).toContain("comma list of numbers");
});

test("low intervals are lifted to what is sensible", () => {
  expect(ok("--status-update-interval=1").statusUpdateInterval).toBe(5);
  expect(ok("--election-ttl=0").electionTtl).toBe(30_000);
});

test("flags of the Go logging library are accepted", () => {
  expect(ok("--logtostderr=true", "--vmodule=a=2", "--log_dir=/x").given.has("vmodule")).toBe(true);
});

test("durations are written as in Go", () => {
  expect(["30s", "1m30s", "0", "1.5h", "-2s", "100ms", "250us", ".5s"].map(parseDuration)).toEqual([
    30_000, 90_000, 0, 5_400_000, -2000, 100, 0.25, 500,
  ]);
  for (const bad of ["", "30", "s", "1d", "1 s", "1m 30s", "+"]) expect(parseDuration(bad)).toBeUndefined();
});

test("a given flag without effect is told, unless it only switches off", () => {
  const told = withoutEffect(ok("--http-port=81", "--bucket-factor=1.2", "--enable-ssl-passthrough=false", "--publish-service="));
  expect(told).toEqual(["flag --bucket-factor has no effect: the text format of /metrics has none"]);
});

test("a word that is no flag is told, but for the program's own path", () => {
  const told = withoutEffect(ok("/nginx-ingress-controller", "--update-status", "false"));
  expect(told.filter((sentence) => sentence.startsWith("argument"))).toEqual([
    'argument "false" is ignored: a value belongs to its flag as --flag=value',
  ]);
});

test("every flag of the retired controller exists with its default", () => {
  const lines = readFileSync(new URL("retired-flags.tsv", import.meta.url), "utf8")
    .trim()
    .split("\n");
  const text = usage();
  for (const line of lines) {
    const [flag, type, value] = line.split("\t") as [string, string, string];
    const name = flag.slice(2);
    expect(Object.hasOwn(flagRows, name), name).toBe(true);
    expect(text).toContain(`--${name}`);
    const row = flagRows[name as keyof typeof flagRows];
    if (type.startsWith("bool")) expect(String(row.value), name).toBe(value);
    if (type.startsWith("int")) expect(row.value, name).toBe(Number(value.split(" ")[0]));
    if (type.startsWith("float list")) expect(row.value, name).toEqual(value.split(" ").map(Number));
  }
  expect(Object.keys(klogRows)).toHaveLength(12);
});

test("namespace/name", () => {
  expect(namespacedName("a/b")).toEqual({ namespace: "a", name: "b" });
  for (const bad of ["", "a", "a/", "/b", "a/b/c"]) expect(namespacedName(bad)).toBeUndefined();
});
