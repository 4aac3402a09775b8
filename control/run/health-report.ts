/** Health checks in the text form of Kubernetes components. */

export interface HealthCheck {
  readonly name: string;
  /** Throws or rejects when it is not well; the message is shown on the check's own path only. */
  readonly run: () => void | Promise<void>;
}

export interface ReportOptions {
  readonly verbose: boolean;
  readonly exclude: readonly string[];
}

/** Always well: says that the controller answers. */
export const ping: HealthCheck = { name: "ping", run: () => {} };

export async function healthReport(
  checks: readonly HealthCheck[],
  options: ReportOptions,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  const excluded = new Set(options.exclude);
  const problems = await Promise.all(checks.map((check) => (excluded.has(check.name) ? undefined : checkOne(check))));
  const lines = checks.map(({ name }, index) => {
    if (excluded.has(name)) return `[+]${name} excluded: ok\n`;
    return problems[index] === undefined ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`;
  });
  const unknown = [...excluded].filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0)
    lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown.map((name) => JSON.stringify(name)).join(",")}\n`);
  const ok = problems.every((problem) => problem === undefined);
  if (!ok) return { ok, text: `${lines.join("")}healthz check failed\n` };
  return { ok, text: options.verbose ? `${lines.join("")}healthz check passed\n` : "ok" };
}

/** What is wrong, undefined when nothing is. */
export async function checkOne(check: HealthCheck): Promise<string | undefined> {
  try {
    await check.run();
    return undefined;
  } catch (error) {
    return (error as Error).message || "failed";
  }
}
