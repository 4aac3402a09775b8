// Compares one value with what a case expects of it.
import type { Matcher, MatcherTests } from "./case";

const SHOWN = 300;

export function show(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}… (${text.length} characters)` : text;
}

function many(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}

/** What is wrong with the text, in words; undefined when all tests pass. */
export function testText(value: string | undefined, tests: MatcherTests): string | undefined {
  if (tests.absent === true) return value === undefined ? undefined : `expected none, came ${show(value)}`;
  if (value === undefined) {
    const wants = tests.absent === false || many(tests.contains).length + many(tests.matches).length > 0;
    return wants ? `expected ${show(tests)}, came nothing` : undefined;
  }
  for (const part of many(tests.contains)) if (!value.includes(part)) return `expected text with ${show(part)}, came ${show(value)}`;
  for (const part of many(tests.lacks)) if (value.includes(part)) return `expected text without ${show(part)}, came ${show(value)}`;
  for (const part of many(tests.matches))
    if (!new RegExp(part).test(value)) return `expected a match of ${show(part)}, came ${show(value)}`;
  return undefined;
}

/** What is wrong with the value, in words. null expects null or nothing. */
export function compare(value: string | number | boolean | null | undefined, matcher: Matcher): string | undefined {
  if (matcher === null) return value === null || value === undefined ? undefined : `expected none, came ${show(value)}`;
  if (typeof matcher === "object") return testText(value === undefined || value === null ? undefined : String(value), matcher);
  if (value !== undefined && value !== null && String(value) === String(matcher)) return undefined;
  return `expected ${show(matcher)}, came ${show(value ?? undefined)}`;
}

/** As compare, for a name that may come several times: any one value will do, but `absent` and `lacks` look at all. */
export function compareAny(values: readonly string[], matcher: Matcher): string | undefined {
  if (values.length === 0) return compare(undefined, matcher);
  if (typeof matcher === "object" && matcher !== null && (matcher.absent === true || matcher.lacks !== undefined)) {
    for (const value of values) {
      const wrong = testText(value, { absent: matcher.absent, lacks: matcher.lacks });
      if (wrong !== undefined) return wrong;
    }
  }
  const problems = values.map((value) => compare(value, matcher));
  if (problems.includes(undefined)) return undefined;
  return values.length === 1 ? problems[0] : `expected ${show(matcher)}, came ${show(values)}`;
}
