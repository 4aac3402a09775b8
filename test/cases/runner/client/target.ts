// A url of a case, taken apart without tidying it: dots, double slashes and odd bytes reach the proxy as written.
import type { RequestSpec } from "../case";

export interface Target {
  readonly scheme: "http" | "https" | "tcp" | "udp";
  readonly host: string;
  /** As written, undefined when the url has none. */
  readonly port: number | undefined;
  /** Path and query, at least "/". */
  readonly path: string;
}

const URL_PARTS = /^(http|https|tcp|udp):\/\/(\[[0-9a-fA-F:.]+\]|[^/?#:]+)(?::(\d+))?([^#]*)$/s;

export function parseTarget(url: string): Target {
  const parts = url.match(URL_PARTS);
  if (parts === null) throw new Error(`cannot read url ${url}`);
  const rest = parts[4] ?? "";
  return {
    scheme: parts[1] as Target["scheme"],
    host: parts[2]!,
    port: parts[3] === undefined ? undefined : Number(parts[3]),
    path: rest === "" ? "/" : rest.startsWith("/") ? rest : `/${rest}`,
  };
}

/** The Host that goes with the url. */
export function authority(target: Target): string {
  return target.port === undefined ? target.host : `${target.host}:${target.port}`;
}

export function bodyOf(spec: RequestSpec): Buffer | undefined {
  if (spec.body === undefined) return undefined;
  return typeof spec.body === "string" ? Buffer.from(spec.body) : Buffer.alloc(spec.body.size, "a");
}

/** Name and value of every header line to send; a list of values makes several lines. */
export function headerLines(spec: RequestSpec): readonly (readonly [string, string])[] {
  return Object.entries(spec.headers ?? {}).flatMap(([name, value]) =>
    (typeof value === "string" ? [value] : value).map((one) => [name, one] as const),
  );
}

/** Raw text as bytes: one byte a character where that is possible, so that "\xff" in a case is that byte. */
export function rawBytes(text: string): Buffer {
  return Buffer.from(text, /^[\x00-\xff]*$/.test(text) ? "latin1" : "utf8");
}
