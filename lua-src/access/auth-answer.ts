/** What counts of an auth service's answer, whether it comes from the service or from the cache. */
import type { Reply } from "./http-client";

export interface AuthAnswer {
  readonly status: number;
  /** For the upstream: values by the name as configured; absent ones are not there. */
  readonly headers: LuaTable<string, string | undefined>;
  readonly cookies: readonly string[] | undefined;
  readonly challenges: readonly string[] | undefined;
}

function linesOf(reply: Reply, name: string): readonly string[] | undefined {
  return reply.headers.get(name) as unknown as readonly string[] | undefined;
}

function answerOf(reply: Reply, names: readonly string[]): AuthAnswer {
  const headers = new LuaTable<string, string | undefined>();
  for (const name of names) {
    const lines = linesOf(reply, string.lower(name));
    if (lines !== undefined) {
      headers.set(name, table.concat(lines as string[], ", "));
    }
  }
  return { status: reply.status, headers, cookies: linesOf(reply, "set-cookie"), challenges: linesOf(reply, "www-authenticate") };
}

export { answerOf };
