/** describe, it and expect for specs that run as Lua inside an nginx worker. Results are JSON for run.ts. */
import { encode } from "cjson.safe";

interface Result {
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped";
  readonly text?: string;
}

type Body = () => void;

interface Spec {
  readonly name: string;
  readonly body: Body;
}

const results: Result[] = [];
const specs: Spec[] = [];
const group: { name: string } = { name: "" };

function describe(name: string, body: Body): void {
  group.name = name;
  body();
}

/** Runs when all files are loaded: what waits cannot do so below Lua's require. */
function it(name: string, body: Body): void {
  specs[specs.length] = { name: `${group.name}: ${name}`, body };
}

function skip(name: string, reason: string): void {
  results[results.length] = { name: `${group.name}: ${name}`, outcome: "skipped", text: reason };
}

/** Text of a value, tables with sorted keys, so that equal values have equal texts. */
function show(value: unknown): string {
  if (type(value) !== "table") {
    return type(value) === "string" ? string.format("%q", value as string) : tostring(value);
  }
  const parts: string[] = [];
  for (const [key, member] of pairs(value as LuaTable<string | number, unknown>)) {
    parts[parts.length] = `[${tostring(key)}]=${show(member)}`;
  }
  table.sort(parts);
  return `{${table.concat(parts, ",")}}`;
}

/** Fails the spec unless both have the same content. */
function expectEqual(actual: unknown, expected: unknown): void {
  const [a, b] = [show(actual), show(expected)];
  if (a !== b) {
    error(`expected ${b}, got ${a}`, 2);
  }
}

/** Runs the specs. */
function report(): string {
  for (const { name, body } of specs) {
    const [ok, problem] = pcall(body);
    results[results.length] = { name, outcome: ok ? "passed" : "failed", text: ok ? undefined : tostring(problem) };
  }
  const [text] = encode(results);
  return text!;
}

export { describe, expectEqual, it, report, skip };
