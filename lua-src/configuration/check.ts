/** Are these documents what wire.ts says? Checked before anything is stored; keys that nobody knows pass. */

/** Says what is wrong, with the place, or undefined. */
type Check = (value: unknown, at: string) => string | undefined;

function isTable(value: unknown): value is LuaTable<string, unknown> {
  return type(value) === "table";
}

function ofType(name: string): Check {
  return (value, at) => (type(value) === name ? undefined : `${at}: ${name} expected, not ${type(value)}`);
}

const text = ofType("string");
const number = ofType("number");
const flag = ofType("boolean");
const textOrNumber: Check = (value, at) =>
  type(value) === "string" || type(value) === "number" ? undefined : `${at}: string or number expected`;

function oneOf(...allowed: readonly string[]): Check {
  const known = new LuaTable<string, true>();
  for (const word of allowed) {
    known.set(word, true);
  }
  return (value, at) =>
    type(value) === "string" && known.get(value as string) === true ? undefined : `${at}: unknown value ${tostring(value)}`;
}

function integer(least: number, most: number): Check {
  return (value, at) => {
    const ok = type(value) === "number" && (value as number) >= least && (value as number) <= most && (value as number) % 1 === 0;
    return ok ? undefined : `${at}: whole number from ${least} to ${most} expected`;
  };
}

function list(item: Check): Check {
  return (value, at) => {
    if (!isTable(value)) {
      return `${at}: array expected`;
    }
    let count = 0;
    for (const [key] of pairs(value as unknown as LuaTable<number, unknown>)) {
      if (type(key) !== "number") {
        return `${at}: array expected, not an object`;
      }
      count += 1;
    }
    for (const i of $range(1, count)) {
      const problem = item((value as unknown as LuaTable<number, unknown>).get(i), `${at}[${i - 1}]`);
      if (problem !== undefined) {
        return problem;
      }
    }
    return undefined;
  };
}

/** Addresses of wire.ts. */
const addresses: Check = (value, at) => (type(value) === "string" ? undefined : list(text)(value, at));

function record(item: Check): Check {
  return (value, at) => {
    if (!isTable(value)) {
      return `${at}: object expected`;
    }
    for (const [key, member] of pairs(value)) {
      const problem = type(key) === "string" ? item(member, `${at}.${key}`) : `${at}: object expected, not an array`;
      if (problem !== undefined) {
        return problem;
      }
    }
    return undefined;
  };
}

/** A key that ends in "?" may be absent. */
function object(fields: Record<string, Check>): Check {
  const needed = new LuaTable<string, Check>();
  const optional = new LuaTable<string, Check>();
  for (const [name, check] of pairs(fields as unknown as LuaTable<string, Check>)) {
    if (string.sub(name, -1) === "?") {
      optional.set(string.sub(name, 1, -2), check);
    } else {
      needed.set(name, check);
    }
  }
  return (value, at) => {
    if (!isTable(value)) {
      return `${at}: object expected`;
    }
    for (const [name, check] of pairs(needed)) {
      const problem = check(value.get(name), `${at}.${name}`);
      if (problem !== undefined) {
        return problem;
      }
    }
    for (const [name, check] of pairs(optional)) {
      const member = value.get(name);
      const problem = member === undefined ? undefined : check(member, `${at}.${name}`);
      if (problem !== undefined) {
        return problem;
      }
    }
    return undefined;
  };
}

export type { Check };
export { addresses, flag, integer, isTable, list, number, object, oneOf, record, text, textOrNumber };
