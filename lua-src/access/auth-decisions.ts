/** What an auth-snippet decides without asking the service: its `return` and `if (…) { return …; }`, in their order. */
import { logError } from "../base/log";
import { expandTemplate, parseTemplate, type Template } from "../base/template";
import type { AuthDecisionDocument } from "../wire";

export interface Decision {
  readonly status: number;
  /** Of the variable; undefined: always. */
  readonly variable: Template | undefined;
  /** Whether the test must fail. */
  readonly negated: boolean;
  /** Equal to this, where there is one; */
  readonly text: Template | undefined;
  /** else matched by this, where there is one; else neither empty nor "0". */
  readonly pattern: string | undefined;
  readonly options: string;
}

function prepareDecision({ status, when }: AuthDecisionDocument): Decision {
  const op = when?.op ?? "set";
  const equals = op === "=" || op === "!=";
  return {
    status,
    variable: when === undefined ? undefined : parseTemplate(`$${when.variable}`),
    negated: string.sub(op, 1, 1) === "!",
    text: when !== undefined && equals ? parseTemplate(when.value) : undefined,
    pattern: when === undefined || equals || op === "set" ? undefined : when.value,
    options: string.sub(op, -1) === "*" ? "ijo" : "jo",
  };
}

function prepareDecisions(documents: readonly AuthDecisionDocument[]): readonly Decision[] {
  const decisions: Decision[] = [];
  for (const document of documents) {
    decisions[decisions.length] = prepareDecision(document);
  }
  return decisions;
}

function isTrue({ text, pattern, options }: Decision, value: string): LuaMultiReturn<[boolean, string | undefined]> {
  if (text !== undefined) {
    return $multi(value === expandTemplate(text), undefined);
  }
  if (pattern === undefined) {
    return $multi(value !== "" && value !== "0", undefined);
  }
  const [from, , problem] = ngx.re.find(value, pattern, options);
  return $multi(from !== undefined, problem);
}

/** The status of the first that holds; 500 where one cannot be tested. */
function decide(decisions: readonly Decision[]): number | undefined {
  for (const decision of decisions) {
    if (decision.variable === undefined) {
      return decision.status;
    }
    const [holds, problem] = isTrue(decision, expandTemplate(decision.variable));
    if (problem !== undefined) {
      logError("a condition of auth-snippet cannot be tested", problem);
      return 500;
    }
    if (holds !== decision.negated) {
      return decision.status;
    }
  }
  return undefined;
}

export { decide, prepareDecisions };
