/** The command line of dbg. */

import { flagRows } from "../options/flag-rows.ts";
import { parseValue } from "../options/flag-value.ts";

export interface DbgArguments {
  /** Command, sub-command and their arguments. */
  readonly words: readonly string[];
  readonly runtimeDir: string;
  readonly healthzPort: number;
  readonly method: string;
  /** Of conf. */
  readonly host: string | undefined;
  /** Lower-case name and value. */
  readonly headers: readonly (readonly [string, string])[];
  readonly help: boolean;
}

export type ParsedDbg = { readonly ok: DbgArguments } | { readonly error: string };

/** --status-port is accepted for the sake of scripts; the socket in the runtime folder is what is asked. */
const valued = new Set(["runtime-dir", "healthz-port", "status-port", "method", "header", "host"]);
const letters: Readonly<Record<string, string>> = { H: "header", X: "method", h: "help" };

export function parseDbg(argv: readonly string[]): ParsedDbg {
  const words: string[] = [];
  const headers: [string, string][] = [];
  const values: Record<string, string> = {};
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index]!;
    const match = /^--?([A-Za-z-]+)(?:=([\s\S]*))?$/.exec(word);
    if (match === null) {
      words.push(word);
      continue;
    }
    const name = word.startsWith("--") ? match[1]! : (letters[match[1]!] ?? "");
    if (name === "help") {
      values.help = "true";
      continue;
    }
    if (!valued.has(name)) return { error: `unknown flag: ${word}` };
    const value = match[2] ?? argv[++index];
    if (value === undefined) return { error: `flag needs an argument: ${word}` };
    if (name !== "header") {
      values[name] = value;
      continue;
    }
    const colon = value.indexOf(":");
    if (colon < 1) return { error: `--header must be name:value: ${value}` };
    headers.push([value.slice(0, colon).trim().toLowerCase(), value.slice(colon + 1).trim()]);
  }
  for (const name of ["healthz-port", "status-port"]) {
    const port = values[name] === undefined ? undefined : parseValue("int", values[name]);
    if (port !== undefined && "error" in port) return { error: `invalid argument "${values[name]}" for "--${name}" flag: ${port.error}` };
  }
  return {
    ok: {
      words,
      headers,
      runtimeDir: values["runtime-dir"] ?? flagRows["runtime-dir"].value,
      healthzPort: Number(values["healthz-port"] ?? flagRows["healthz-port"].value),
      method: (values.method ?? "GET").toUpperCase(),
      host: values.host,
      help: values.help === "true",
    },
  };
}
