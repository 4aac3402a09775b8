/** Command line → Options, in the syntax that Kubernetes users know (pflag): --name=value, --name value, --bool, -v=5. */

import { type FlagRow, type FlagType, type FlagTypes, flagRows, klogRows, shorthands } from "./flag-rows.ts";
import { parseValue } from "./flag-value.ts";

type Camel<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;
type Rows = typeof flagRows;
export type FlagName = keyof Rows;

/** One field per flag, in camelCase: --http-port → httpPort. Durations are milliseconds. */
export type Options = { readonly [K in FlagName as Camel<K>]: FlagTypes[Rows[K]["type"]] } & {
  /** Flags of the Go logging library, under their own names. */
  readonly klog: KlogOptions;
  /** Names (without dashes) of the flags on the command line, those of klog too. */
  readonly given: ReadonlySet<string>;
  /** What is no flag; ignored, but worth a log line: `--update-status false` leaves "false" here and update-status true. */
  readonly rest: readonly string[];
};

type KlogRows = typeof klogRows;
export type KlogOptions = { readonly [K in keyof KlogRows]: FlagTypes[KlogRows[K]["type"]] };

export type ParsedFlags = { readonly ok: Options } | { readonly error: string };

type Value = FlagTypes[FlagType];

interface Draft {
  readonly values: Map<string, Value>;
  readonly given: Set<string>;
  readonly rest: string[];
}

/** argv without the program's name. The error is one line; the caller prints it and exits with 2. */
export function parseFlags(argv: readonly string[]): ParsedFlags {
  const draft: Draft = { values: new Map(), given: new Set(), rest: [] };
  let index = 0;
  while (index < argv.length) {
    const word = argv[index]!;
    if (word === "--") {
      draft.rest.push(...argv.slice(index + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      draft.rest.push(word);
      index += 1;
      continue;
    }
    const taken = word.startsWith("--")
      ? takeLong(word.slice(2), argv[index + 1], draft)
      : takeShort(word.slice(1), argv[index + 1], draft);
    if (typeof taken === "string") return { error: taken };
    index += taken;
  }
  const options = finish(draft);
  const error = conflict(options);
  return error === undefined ? { ok: options } : { error };
}

/** Sentences about given flags that have no effect, and about words that are no flags, for the log. */
export function withoutEffect(options: Options): string[] {
  const sentences: string[] = [];
  for (const name of [...options.given].sort()) {
    const row = rowOf(name);
    if (row?.idle === undefined) continue;
    const value = name in klogRows ? options.klog[name as keyof KlogRows] : options[camel(name) as keyof Options];
    // Off is what one gets.
    if (value === false || value === "") continue;
    sentences.push(`flag --${name} has no effect: ${row.idle}`);
  }
  for (const word of options.rest) {
    // Some manifests repeat the program's path as the first argument.
    if (!word.startsWith("/")) sentences.push(`argument ${JSON.stringify(word)} is ignored: a value belongs to its flag as --flag=value`);
  }
  return sentences;
}

/** The text of --help. */
export function usage(): string {
  const rows: Readonly<Record<string, FlagRow>> = { ...flagRows, ...klogRows };
  const lines = Object.entries(rows).map(([name, row]) => {
    const type = row.type === "bool" ? "" : ` ${row.type}`;
    const without = row.idle === undefined ? "" : ` No effect: ${row.idle}.`;
    return `      --${name}${type}\n            ${row.doc}${without}${defaultText(row)}`;
  });
  return `Usage of nginx-ingress-controller:\n${lines.join("\n")}\n`;
}

/** "namespace/name" in its parts, undefined when it is not of that form. */
export function namespacedName(text: string): { readonly namespace: string; readonly name: string } | undefined {
  const parts = text.split("/");
  const [namespace, name] = parts;
  return parts.length === 2 && namespace !== undefined && name !== undefined && namespace !== "" && name !== ""
    ? { namespace, name }
    : undefined;
}

function rowOf(name: string): FlagRow | undefined {
  if (Object.hasOwn(flagRows, name)) return flagRows[name as FlagName];
  return Object.hasOwn(klogRows, name) ? klogRows[name as keyof KlogRows] : undefined;
}

/** How many words were used, or what is wrong. */
function takeLong(body: string, next: string | undefined, draft: Draft): number | string {
  if (body.startsWith("-") || body.startsWith("=")) return `bad flag syntax: --${body}`;
  const equals = body.indexOf("=");
  const name = equals === -1 ? body : body.slice(0, equals);
  const row = rowOf(name);
  if (row === undefined) return `unknown flag: --${name}`;
  if (equals !== -1) return set(draft, name, row, body.slice(equals + 1)) ?? 1;
  if (row.type === "bool") return set(draft, name, row, "true") ?? 1;
  if (next === undefined) return `flag needs an argument: --${name}`;
  return set(draft, name, row, next) ?? 2;
}

function takeShort(body: string, next: string | undefined, draft: Draft, word = body): number | string {
  const long = body.split("=", 1)[0]!;
  if (long.length > 1 && rowOf(long) !== undefined) return `bad flag syntax: -${word} (a long flag begins with two dashes)`;
  const letter = body.slice(0, 1);
  const name = Object.hasOwn(shorthands, letter) ? shorthands[letter] : undefined;
  const row = name === undefined ? undefined : rowOf(name);
  if (name === undefined || row === undefined) return `unknown shorthand flag: '${letter}' in -${word}`;
  const value = body.slice(1);
  if (value.startsWith("=") && value !== "=") return set(draft, name, row, value.slice(1)) ?? 1;
  if (row.type === "bool") {
    const error = set(draft, name, row, "true");
    if (error !== undefined) return error;
    return value === "" ? 1 : takeShort(value, next, draft, word);
  }
  if (value !== "") return set(draft, name, row, value) ?? 1;
  if (next === undefined) return `flag needs an argument: '${letter}' in -${word}`;
  return set(draft, name, row, next) ?? 2;
}

function set(draft: Draft, name: string, row: FlagRow, text: string): string | undefined {
  const parsed = parseValue(row.type, text);
  if ("error" in parsed) return `invalid argument "${text}" for "--${name}" flag: ${parsed.error}`;
  let value = parsed.value;
  const { range } = row;
  if (range !== undefined && typeof value === "number" && (value < range[0] || value > range[1])) {
    return `invalid argument "${text}" for "--${name}" flag: must be between ${range[0]} and ${range[1]}`;
  }
  const former = draft.values.get(name);
  // A repeated list adds to the first one, which replaced the default.
  if (Array.isArray(value) && Array.isArray(former)) value = [...former, ...value] as Value;
  draft.values.set(name, value);
  draft.given.add(name);
  return undefined;
}

function finish(draft: Draft): Options {
  const klog = Object.fromEntries(Object.entries(klogRows).map(([name, row]) => [name, draft.values.get(name) ?? row.value]));
  const options: Record<string, unknown> = { given: draft.given, rest: draft.rest, klog };
  for (const [name, row] of Object.entries(flagRows as Readonly<Record<string, FlagRow>>)) {
    options[camel(name)] = draft.values.get(name) ?? row.value;
  }
  if ((options.statusUpdateInterval as number) < 5) options.statusUpdateInterval = 5;
  if ((options.electionTtl as number) <= 0) options.electionTtl = flagRows["election-ttl"].value;
  return options as Options;
}

function camel(name: string): string {
  return name.replaceAll(/-(.)/g, (_all, letter: string) => letter.toUpperCase());
}

const editions = new Set(
  [
    "GeoLite2-City",
    "GeoLite2-ASN",
    "GeoLite2-Country",
    "GeoIP2-Anonymous-IP",
    "GeoIP2-Country",
    "GeoIP2-City",
    "GeoIP2-Connection-Type",
  ].concat(["GeoIP2-Domain", "GeoIP2-ISP", "GeoIP2-ASN"]),
);

function conflict(options: Options): string | undefined {
  if (options.help || options.version) return undefined;
  if (options.watchNamespace !== "" && options.watchNamespaceSelector !== "") {
    return "flags --watch-namespace and --watch-namespace-selector exclude each other";
  }
  if (options.publishService !== "" && options.publishStatusAddress !== "") {
    return "flags --publish-service and --publish-status-address exclude each other";
  }
  if (options.metricsPerUndefinedHost && !options.metricsPerHost) return "flag --metrics-per-undefined-host needs --metrics-per-host=true";
  if (!options.healthCheckPath.startsWith("/")) return `flag --health-check-path must begin with "/": ${options.healthCheckPath}`;
  for (const edition of options.maxmindEditionIds.split(",")) {
    if (edition !== "" && !editions.has(edition)) return `flag --maxmind-edition-ids: unknown edition ${edition}`;
  }
  for (const [name, text] of [
    ["default-backend-service", options.defaultBackendService],
    ["publish-service", options.publishService],
  ] as const) {
    if (text !== "" && namespacedName(text) === undefined) return `flag --${name} must be namespace/name: ${text}`;
  }
  return undefined;
}

function defaultText(row: FlagRow): string {
  if (row.value === false || row.value === "" || (Array.isArray(row.value) && row.value.length === 0)) return "";
  const text = row.type === "duration" ? `${row.value / 1000}s` : String(row.value);
  return ` (default ${text})`;
}
