/** Routes that the data plane cannot serve, as long as their hosts are as they were when it said so. */

import type { BatchAnswer } from "../../lua-src/wire.ts";
import type { Finding } from "../model/finding.ts";
import type { Plan } from "../plan/plan.ts";
import type { Delta } from "./dataplane.ts";

type Problem = NonNullable<BatchAnswer["problems"]>[number];

export class RefusedRoutes {
  readonly #byHost = new Map<string, Problem[]>();

  answered(sent: Delta | undefined, problems: readonly Problem[]): void {
    for (const host of [...(sent?.upsert.keys() ?? []), ...(sent?.remove ?? [])]) this.#byHost.delete(host);
    for (const problem of problems) this.#byHost.set(problem.host, [...(this.#byHost.get(problem.host) ?? []), problem]);
  }

  findings(plan: Pick<Plan, "ownerOf">): Finding[] {
    return [...this.#byHost.values()].flat().map(({ host, path, text }) => ({
      code: "path-invalid",
      about: plan.ownerOf(host, path) ?? { kind: "Host", namespace: "", name: host },
      at: `${host}${path}`,
      text: `its requests are answered as if it were not there: ${text}`,
    }));
  }

  clear(): void {
    this.#byHost.clear();
  }
}
