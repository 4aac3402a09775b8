/** Flags of the Go logging library → where log lines go and what they look like. */

import { closeSync, fstatSync, openSync, writeSync } from "node:fs";
import { systemClock } from "./clock.ts";
import { createLogger, type LogForm, type Logger, type LogTarget, type Severity, stderr } from "./logger.ts";

/** As on the command line. */
export interface LogOptions {
  readonly logtostderr: boolean;
  readonly alsologtostderr: boolean;
  /** A name or a number. */
  readonly stderrthreshold: string;
  /** Empty: none. */
  readonly log_file: string;
  /** Megabytes; 0: without limit. */
  readonly log_file_max_size: number;
  readonly skip_headers: boolean;
  /** NAME=VERBOSITY, comma list. */
  readonly vmodule: string;
}

const severities: readonly Severity[] = ["I", "W", "E"];
const severityNames = ["INFO", "WARNING", "ERROR", "FATAL"];

/** Throws a sentence for the user about a flag that cannot be followed. */
export function openLog(verbosity: number, options: LogOptions, console: LogTarget = stderr): Logger {
  const form: LogForm = { headers: !options.skip_headers, modules: modulesOf(options.vmodule) };
  return createLogger(verbosity, targetOf(options, console), systemClock, form);
}

function targetOf(options: LogOptions, console: LogTarget): LogTarget {
  const threshold = thresholdOf(options.stderrthreshold);
  // Without a file all there is to see goes where it can be seen.
  if (options.logtostderr || options.log_file === "") return console;
  const file = new LogFile(options.log_file, options.log_file_max_size * 1024 * 1024);
  return {
    write: (line, severity) => {
      file.write(line);
      if (options.alsologtostderr || severities.indexOf(severity) >= threshold) console.write(line, severity);
    },
  };
}

/** Begun anew when it is full; a controller that starts adds to what the former one wrote. */
class LogFile {
  readonly #path: string;
  /** Bytes; 0: none. */
  readonly #limit: number;
  #descriptor: number;
  #size = 0;

  constructor(path: string, limit: number) {
    this.#path = path;
    this.#limit = limit;
    try {
      this.#descriptor = openSync(path, "a");
      this.#size = fstatSync(this.#descriptor).size;
    } catch (error) {
      throw new Error(`flag --log_file: ${(error as Error).message}`);
    }
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#limit > 0 && this.#size + bytes.length > this.#limit) {
      closeSync(this.#descriptor);
      this.#descriptor = openSync(this.#path, "w");
      this.#size = 0;
    }
    this.#size += writeSync(this.#descriptor, bytes);
  }
}

function thresholdOf(text: string): number {
  const named = severityNames.indexOf(text.toUpperCase());
  const threshold = named === -1 ? Number(text === "" ? Number.NaN : text) : named;
  if (!Number.isInteger(threshold))
    throw new Error(`flag --stderrthreshold: ${text} is no severity (INFO, WARNING, ERROR, FATAL or 0 to 3)`);
  return threshold;
}

function modulesOf(text: string): LogForm["modules"] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => {
      const [, name = "", level = ""] = /^([^=]+)=([0-9]+)$/.exec(part) ?? [];
      if (name === "") throw new Error(`flag --vmodule: ${part} is not NAME=VERBOSITY`);
      const source = name
        .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
        .replaceAll("*", ".*")
        .replaceAll("?", ".");
      return { pattern: new RegExp(`^${source}$`), verbosity: Number(level) };
    });
}
