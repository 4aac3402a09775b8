/** The rules of a canary: header, then cookie, then share. */
import type { BackendDocument } from "../wire";
import type { Backend } from "./peers";

/** A backend's own rules for standing in for another one. */
export interface Shaping {
  /** Name of the nginx variable; undefined without that rule. */
  readonly header: string | undefined;
  readonly headerValue: string | undefined;
  readonly headerPattern: string | undefined;
  readonly cookie: string | undefined;
  /** Of 1. */
  readonly share: number;
}

export interface Alternative {
  readonly backend: Backend;
  /** How much of a request this worker owes it. */
  due: number;
}

export interface Alternatives {
  readonly list: LuaTable<number, Alternative>;
  readonly count: number;
}

function filled(text: string): string | undefined {
  return text === "" ? undefined : text;
}

function headerVariable(name: string): string | undefined {
  if (name === "") {
    return undefined;
  }
  const [underscored] = string.gsub(string.lower(name), "-", "_");
  return `http_${underscored}`;
}

/** undefined when the document is no canary's. */
function shapingOf({ trafficShapingPolicy: policy, noServer }: BackendDocument): Shaping | undefined {
  if (!noServer) {
    return undefined;
  }
  const total = math.max(policy.weightTotal, 100);
  return {
    header: headerVariable(policy.header),
    headerValue: filled(policy.headerValue),
    headerPattern: filled(policy.headerPattern),
    cookie: policy.cookie === "" ? undefined : `cookie_${policy.cookie}`,
    share: math.min(1, math.max(0, policy.weight / total)),
  };
}

/** undefined without alternatives. A known one keeps its due; a new one starts at a random phase, so that workers do not move in step. */
function alternativesOf(
  document: BackendDocument,
  before: Alternatives | undefined,
  named: (name: string) => Backend,
): Alternatives | undefined {
  const list = new LuaTable<number, Alternative>();
  let count = 0;
  for (const name of document.alternativeBackends ?? []) {
    const backend = named(name);
    let alternative: Alternative = { backend, due: math.random() };
    for (const i of $range(1, before === undefined ? 0 : before.count)) {
      const known = before!.list.get(i)!;
      if (known.backend === backend) {
        alternative = known;
      }
    }
    count += 1;
    list.set(count, alternative);
  }
  return count === 0 ? undefined : { list, count };
}

function always(value: string | undefined): boolean | undefined {
  if (value === "always") {
    return true;
  }
  return value === "never" ? false : undefined;
}

function byHeader(shaping: Shaping): boolean | undefined {
  const name = shaping.header;
  const value = name === undefined ? undefined : ngx.var.get(name);
  if (value === undefined) {
    return undefined;
  }
  if (shaping.headerValue !== undefined) {
    return value === shaping.headerValue ? true : undefined;
  }
  if (shaping.headerPattern !== undefined) {
    const [from, , problem] = ngx.re.find(value, shaping.headerPattern, "jo");
    return from !== undefined ? true : problem !== undefined ? false : undefined;
  }
  return always(value);
}

/** true: the canary; false: not this canary; undefined: its share decides. */
function byRule(shaping: Shaping): boolean | undefined {
  const decided = byHeader(shaping);
  if (decided !== undefined || shaping.cookie === undefined) {
    return decided;
  }
  return always(ngx.var.get(shaping.cookie));
}

export { alternativesOf, byRule, shapingOf };
