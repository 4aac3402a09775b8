// Small checks that compose into the check of a whole document. A check throws SchemaError and returns nothing.

export class SchemaError extends Error {}

export type Check = (value: unknown, at: string) => void;

function fail(at: string, wanted: string, value: unknown): never {
  throw new SchemaError(`${at || "(top)"}: expected ${wanted}, found ${JSON.stringify(value)?.slice(0, 80)}`);
}

export const text: Check = (value, at) => {
  if (typeof value !== "string") fail(at, "a string", value);
};

export const flag: Check = (value, at) => {
  if (typeof value !== "boolean") fail(at, "true or false", value);
};

export const whole: Check = (value, at) => {
  if (!Number.isSafeInteger(value)) fail(at, "a whole number", value);
};

export const anything: Check = () => undefined;

export function oneOf(...allowed: readonly unknown[]): Check {
  return (value, at) => {
    if (!allowed.includes(value)) fail(at, `one of ${allowed.map((one) => JSON.stringify(one)).join(", ")}`, value);
  };
}

export function list(item: Check): Check {
  return (value, at) => {
    if (!Array.isArray(value)) fail(at, "a list", value);
    value.forEach((one, i) => {
      item(one, `${at}[${i}]`);
    });
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function record(item: Check): Check {
  return (value, at) => {
    if (!isRecord(value)) fail(at, "a mapping", value);
    for (const [key, one] of Object.entries(value)) item(one, `${at}.${key}`);
  };
}

/** A mapping with these keys only; the ones named in `required` must be there. */
export function shape(keys: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  return (value, at) => {
    if (!isRecord(value)) fail(at, "a mapping", value);
    for (const [key, one] of Object.entries(value)) {
      const check = Object.hasOwn(keys, key) ? keys[key] : undefined;
      if (check === undefined) throw new SchemaError(`${at || "(top)"}: unknown key ${JSON.stringify(key)}`);
      check(one, at === "" ? key : `${at}.${key}`);
    }
    for (const key of required) if (!(key in value)) throw new SchemaError(`${at || "(top)"}: lacks ${key}`);
  };
}

/** Passes when one of the checks does; else reports what the last one said. */
export function either(...checks: readonly Check[]): Check {
  return (value, at) => {
    let last: unknown;
    for (const check of checks) {
      try {
        check(value, at);
        return;
      } catch (error) {
        last = error;
      }
    }
    throw last;
  };
}

/** Like `shape`, chosen by the only one of these keys that is present. */
export function tagged(variants: Readonly<Record<string, Check>>): Check {
  return (value, at) => {
    if (!isRecord(value)) fail(at, "a mapping", value);
    const present = Object.keys(variants).filter((key) => key in value);
    if (present.length !== 1) throw new SchemaError(`${at}: needs exactly one of ${Object.keys(variants).join(", ")}`);
    variants[present[0]!]!(value, at);
  };
}
