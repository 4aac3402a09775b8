/** Reads fields of raw JSON objects. Absent and null are the same; a wrong type throws Malformed with the field's path. */

export class Malformed extends Error {
  /** E.g. "spec.rules[0].host". */
  readonly at: string;

  constructor(at: string, text: string) {
    super(text);
    this.at = at;
  }
}

/** An object and where it stands. */
export interface Place {
  readonly at: string;
  readonly raw: Readonly<Record<string, unknown>>;
}

type TextMap = Readonly<Record<string, string>>;

const nothing: TextMap = Object.freeze({});

export function placeOf(raw: unknown, at: string): Place {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) throw new Malformed(at, `must be a mapping, not ${nameOf(raw)}`);
  return { at, raw: raw as Readonly<Record<string, unknown>> };
}

/** A nested object; an absent one counts as empty. */
export function within(place: Place, key: string): Place {
  return placeOf(place.raw[key] ?? {}, join(place, key));
}

export function optional(place: Place, key: string): Place | undefined {
  const raw = place.raw[key] ?? undefined;
  return raw === undefined ? undefined : placeOf(raw, join(place, key));
}

/** Absent: "". */
export function text(place: Place, key: string): string {
  return optionalText(place, key) ?? "";
}

export function optionalText(place: Place, key: string): string | undefined {
  const raw = place.raw[key] ?? undefined;
  if (raw === undefined || typeof raw === "string") return raw;
  throw wrong(place, key, "a string", raw);
}

export function requiredText(place: Place, key: string): string {
  const value = text(place, key);
  if (value === "") throw new Malformed(join(place, key), "is required");
  return value;
}

export function optionalNumber(place: Place, key: string): number | undefined {
  const raw = place.raw[key] ?? undefined;
  if (raw === undefined || (typeof raw === "number" && Number.isSafeInteger(raw))) return raw;
  throw wrong(place, key, "a whole number", raw);
}

/** A port number 1…65535. */
export function optionalPort(place: Place, key: string): number | undefined {
  const port = optionalNumber(place, key);
  if (port !== undefined && (port < 1 || port > 65535)) throw new Malformed(join(place, key), `must be between 1 and 65535, not ${port}`);
  return port;
}

export function numberOrText(place: Place, key: string): number | string | undefined {
  return typeof place.raw[key] === "string" ? text(place, key) : optionalNumber(place, key);
}

export function optionalFlag(place: Place, key: string): boolean | undefined {
  const raw = place.raw[key] ?? undefined;
  if (raw === undefined || typeof raw === "boolean") return raw;
  throw wrong(place, key, "true or false", raw);
}

/** A list of objects; absent: empty. */
export function places(place: Place, key: string): Place[] {
  return list(place, key).map((raw, index) => placeOf(raw, `${join(place, key)}[${index}]`));
}

/** A list of strings; absent: empty. */
export function texts(place: Place, key: string): string[] {
  return list(place, key).map((raw, index) => {
    if (typeof raw === "string") return raw;
    throw new Malformed(`${join(place, key)}[${index}]`, `must be a string, not ${nameOf(raw)}`);
  });
}

/** A mapping of strings; absent: empty. `leave` names a key to drop. */
export function textMap(place: Place, key: string, leave?: string): TextMap {
  const raw = place.raw[key] ?? undefined;
  if (raw === undefined) return nothing;
  const entries = Object.entries(placeOf(raw, join(place, key)).raw).filter(([name]) => name !== leave);
  for (const [name, value] of entries) {
    if (typeof value !== "string")
      throw new Malformed(`${join(place, key)}[${name}]`, `must be a string, not ${nameOf(value)}; put it in quotes`);
  }
  // Not by assignment: a key named __proto__ must stay a key.
  return entries.length === 0 ? nothing : (Object.fromEntries(entries) as TextMap);
}

export function join(place: Place, key: string): string {
  return place.at === "" ? key : `${place.at}.${key}`;
}

function list(place: Place, key: string): readonly unknown[] {
  const raw = place.raw[key] ?? [];
  if (!Array.isArray(raw)) throw wrong(place, key, "a list", raw);
  return raw;
}

function wrong(place: Place, key: string, wanted: string, raw: unknown): Malformed {
  return new Malformed(join(place, key), `must be ${wanted}, not ${nameOf(raw)}`);
}

function nameOf(raw: unknown): string {
  if (raw === null || raw === undefined) return "empty";
  if (Array.isArray(raw)) return "a list";
  if (typeof raw === "object") return "a mapping";
  return `the ${typeof raw} ${JSON.stringify(raw).slice(0, 60)}`;
}
