/** The rules of a canary: header, then cookie, then the hash of what a client sends, then its share. */
import type { BackendDocument } from "../wire";
import type { Backend } from "./peers";

/** A backend's own rules for standing in for another one. */
export interface Shaping {
  /** Name of the nginx variable; undefined without that rule. */
  readonly header: string | undefined;
  readonly headerValue: string | undefined;
  readonly headerPattern: string | undefined;
  readonly cookie: string | undefined;
  /** nginx variable whose value keeps a client on one side. */
  readonly sticky: string | undefined;
  /** Requests of `total` that it gets; at most total. */
  readonly weight: number;
  readonly total: number;
}

export interface Alternative {
  readonly backend: Backend;
  /** What this worker owes it: a request when it comes to `total`. */
  due: number;
  /** That of the shaping; 0 before the first request. */
  total: number;
  /** No rule has decided on it for the request at hand. */
  open: boolean;
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

function variableOf({ kind, name }: NonNullable<BackendDocument["trafficShapingPolicy"]["sticky"]>): string {
  return kind === "cookie" ? `cookie_${name}` : headerVariable(name)!;
}

/** undefined when nothing could ever choose the backend in place of another one. */
function shapingOf({ trafficShapingPolicy: policy }: BackendDocument): Shaping | undefined {
  if (policy.weight <= 0 && policy.header === "" && policy.cookie === "") {
    return undefined;
  }
  const total = math.max(policy.weightTotal, 100);
  return {
    header: headerVariable(policy.header),
    headerValue: filled(policy.headerValue),
    headerPattern: filled(policy.headerPattern),
    cookie: policy.cookie === "" ? undefined : `cookie_${policy.cookie}`,
    sticky: policy.sticky === undefined ? undefined : variableOf(policy.sticky),
    weight: math.min(total, math.max(0, policy.weight)),
    total,
  };
}

/** undefined without alternatives. A known one keeps what it is owed. */
function alternativesOf(
  document: BackendDocument,
  before: Alternatives | undefined,
  named: (name: string) => Backend,
): Alternatives | undefined {
  const list = new LuaTable<number, Alternative>();
  let count = 0;
  for (const name of document.alternativeBackends ?? []) {
    const backend = named(name);
    let alternative: Alternative = { backend, due: 0, total: 0, open: false };
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

/** Where a client stands between 0 and 1, for this primary; undefined when it sends nothing to go by. */
function stickyPoint(variable: string, primary: string): number | undefined {
  const value = ngx.var.get(variable);
  if (value === undefined || value === "") {
    return undefined;
  }
  return tonumber(string.sub(ngx.md5(`${primary} ${value}`), 1, 8), 16)! / 4294967296;
}

/** Owes it the share of one more request. A new one starts at a random phase, so that workers do not move in step. */
function owe(alternative: Alternative, { weight, total }: Shaping): void {
  if (alternative.total === 0) {
    alternative.due = math.random(0, total - 1);
  } else if (alternative.total !== total) {
    alternative.due = math.floor((alternative.due * total) / alternative.total);
  }
  alternative.total = total;
  // shares that come to more than all requests cannot be paid, and no debt is carried on
  alternative.due = math.min(alternative.due + weight, 2 * total);
}

export { alternativesOf, byRule, owe, shapingOf, stickyPoint };
