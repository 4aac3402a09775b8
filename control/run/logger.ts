/** Log lines in the form that Kubernetes log tools parse: `I1121 12:00:00.000000    4242 file] message key="value"`. */

import { type Clock, systemClock } from "./clock.ts";

export type LogValue = string | number | boolean | undefined | readonly string[] | Error;
export type LogFields = Readonly<Record<string, LogValue>>;

export interface Logger {
  info(message: string, fields?: LogFields): void;
  warning(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** -v: for callers whose fields cost something to make. */
  readonly verbosity: number;
  /** Written with -v of at least level. */
  debug(level: number, message: string, fields?: LogFields): void;
  /** A warning that is written the first time its message and fields occur. */
  logOnce(message: string, fields?: LogFields): void;
  /** The same log under another file name. */
  named(file: string): Logger;
}

/** Info, warning, error. */
export type Severity = "I" | "W" | "E";

export interface LogTarget {
  write(line: string, severity: Severity): void;
}

export interface LogForm {
  /** Lines begin with severity, time, process and name. */
  readonly headers: boolean;
  /** -v for single names; the first pattern that fits counts. */
  readonly modules: readonly { readonly pattern: RegExp; readonly verbosity: number }[];
}

export const stderr: LogTarget = { write: (line) => void process.stderr.write(line) };

/** Remembered messages of logOnce; beyond it the memory starts anew, so that it stays bounded. */
const onceLimit = 10_000;

const usualForm: LogForm = { headers: true, modules: [] };

export function createLogger(
  usualVerbosity: number,
  target: LogTarget = stderr,
  clock: Clock = systemClock,
  form: LogForm = usualForm,
): Logger {
  const once = new Set<string>();
  const at = (file: string): Logger => {
    const verbosity = form.modules.find(({ pattern }) => pattern.test(file))?.verbosity ?? usualVerbosity;
    const head = (severity: Severity) => `${severity}${stamp(clock.now())} ${String(process.pid).padStart(7)} ${file}] `;
    const line = (severity: Severity, message: string, fields: LogFields | undefined) =>
      target.write(`${form.headers ? head(severity) : ""}${oneLine(message)}${fieldsText(fields)}\n`, severity);
    return {
      verbosity,
      info: (message, fields) => line("I", message, fields),
      warning: (message, fields) => line("W", message, fields),
      error: (message, fields) => line("E", message, fields),
      debug: (level, message, fields) => {
        if (verbosity >= level) line("I", message, fields);
      },
      logOnce: (message, fields) => {
        const key = `${message}${fieldsText(fields)}`;
        if (once.has(key)) return;
        if (once.size >= onceLimit) once.clear();
        once.add(key);
        line("W", message, fields);
      },
      named: at,
    };
  };
  return at("controller");
}

/** MMDD hh:mm:ss.uuuuuu, local time. */
function stamp(now: number): string {
  const date = new Date(now);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${two(date.getMonth() + 1)}${two(date.getDate())}`;
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return `${day} ${time}.${String(date.getMilliseconds()).padStart(3, "0")}000`;
}

/** Text from objects must not be able to start a line of its own. */
function oneLine(text: string): string {
  return text.replaceAll(/[\u0000-\u001f\u007f]/g, (character) => JSON.stringify(character).slice(1, -1));
}

function fieldsText(fields: LogFields | undefined): string {
  if (fields === undefined) return "";
  let text = "";
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) text += ` ${key}=${valueText(value)}`;
  }
  return text;
}

function valueText(value: Exclude<LogValue, undefined>): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return JSON.stringify(value instanceof Error ? value.message : value);
}
