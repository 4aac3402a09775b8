/** Documents → data plane: sends what differs from what it holds, and remembers what it said of it. */

import type { Finding } from "../model/finding.ts";
import type { Documents } from "../plan/documents.ts";
import type { Plan } from "../plan/plan.ts";
import { Applied, isEmpty } from "./applied.ts";
import { type DataPlane, DataPlaneError, type Deltas } from "./dataplane.ts";
import { RefusedRoutes } from "./refused-routes.ts";

export class Sender {
  readonly #dataPlane: DataPlane;
  readonly #applied = new Applied();
  readonly #refusedRoutes = new RefusedRoutes();
  #version = 0;

  constructor(dataPlane: DataPlane) {
    this.#dataPlane = dataPlane;
  }

  /** Of the last batch that was acknowledged. */
  get version(): number {
    return this.#version;
  }

  /** Nothing is there any more. */
  forget(): void {
    this.#applied.clear();
    this.#refusedRoutes.clear();
    this.#version = 0;
  }

  /** What is there is known by key only: it is sent again or removed. Returns the conf that runs. */
  async takeOver(): Promise<string> {
    const state = await this.#dataPlane.state();
    if (state === undefined) throw new Error("nginx runs but its configuration socket does not answer");
    this.#applied.seed(await this.#dataPlane.keys());
    this.#version = state.version;
    return state.conf;
  }

  difference(wanted: Documents): Required<Deltas> {
    return this.#applied.difference(wanted);
  }

  /** Those of these texts that are other than the ones that are there. */
  changedBackends(texts: ReadonlyMap<string, string>): Deltas {
    const isChanged = (id: string, text: string) => this.#applied.backend(id) !== undefined && this.#applied.backend(id) !== text;
    return { backends: { upsert: new Map([...texts].filter(([id, text]) => isChanged(id, text))), remove: [] } };
  }

  /** What the data plane cannot serve of what it holds. */
  findings(plan: Plan): Finding[] {
    return this.#refusedRoutes.findings(plan);
  }

  async send(change: Deltas): Promise<void> {
    const { general, ...rest } = change;
    const deltas: Deltas = general === "" ? rest : change;
    if (isEmpty(deltas)) return;
    try {
      const answer = await this.#dataPlane.patch(this.#version + 1, deltas);
      this.#version = answer.version;
      this.#applied.acknowledge(deltas);
      this.#refusedRoutes.answered(deltas.hosts, answer.problems ?? []);
    } catch (error) {
      if (error instanceof DataPlaneError && error.status === 409) {
        this.#version = (await this.#dataPlane.state())?.version ?? this.#version;
      }
      throw error;
    }
  }
}
