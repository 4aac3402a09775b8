/** describe, it and expect for specs that run as Lua inside an nginx worker. Results are JSON for run.ts. */
import { encode } from "cjson.safe";

interface Result {
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped";
  readonly text?: string;
}

type Body = () => void;

const results: Result[] = [];
const group: { name: string } = { name: "" };

function describe(name: string, body: Body): void {
  group.name = name;
  body();
}

function it(name: string, body: Body): void {
  const [ok, problem] = pcall(body);
  results[results.length] = { name: `${group.name}: ${name}`, outcome: ok ? "passed" : "failed", text: ok ? undefined : tostring(problem) };
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

function report(): string {
  const [text] = encode(results);
  return text!;
}

export { describe, expectEqual, it, report, skip };
