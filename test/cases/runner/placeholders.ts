// ${file:…}, ${repeat:…}, ${pod:…} and ${port:…} in the strings of a case.
import { findService, podAddress } from "../../kit/fixtures/catalog";

export interface PlaceholderValues {
  readonly ports: { readonly http: number; readonly https: number };
  /** Generated texts by "KEY", "KEY.crt" and "KEY.key". */
  readonly files: ReadonlyMap<string, string>;
}

// Not a template of ours: nginx variables such as ${request_uri} stay.
const PLACEHOLDER = /\$\{(file|repeat|pod|port):([^}]*)\}/g;

function podValue(rest: string): string | number {
  const [name = "", number = "", field] = rest.split(":");
  const service = findService(name);
  if (field === "ip") return podAddress(service, Number(number));
  if (field === "port") return service.ports[0]!.target;
  throw new Error(`unknown placeholder \${pod:${rest}}`);
}

function placeholderValue(kind: string, rest: string, values: PlaceholderValues): string | number {
  if (kind === "pod") return podValue(rest);
  if (kind === "port" && (rest === "http" || rest === "https")) return values.ports[rest];
  if (kind === "file") {
    const found = values.files.get(rest);
    if (found !== undefined) return found;
  }
  if (kind === "repeat") {
    const colon = rest.lastIndexOf(":");
    const times = Number(rest.slice(colon + 1));
    if (colon > 0 && Number.isSafeInteger(times)) return rest.slice(0, colon).repeat(times);
  }
  throw new Error(`unknown placeholder \${${kind}:${rest}}`);
}

function fillText(source: string, values: PlaceholderValues): string | number {
  const alone = source.match(/^\$\{pod:([^}]*:port)\}$/);
  if (alone !== null) return podValue(alone[1]!);
  return source.replace(PLACEHOLDER, (_all, kind: string, rest: string) => String(placeholderValue(kind, rest, values)));
}

/** A copy of the value with every string filled in. Throws on a placeholder that stands for nothing. */
export function fill<T>(value: T, values: PlaceholderValues): T {
  if (typeof value === "string") return fillText(value, values) as T;
  if (Array.isArray(value)) return value.map((one) => fill(one, values)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one, values)])) as T;
}
