/** The whole verdict on an Ingress: that of the build, then nginx's own on what it would add to nginx.conf. */

import { annotationOf, refusedText } from "../apply/refused-part.ts";
import type { TrialAnswer } from "../apply/trial.ts";
import { type ConfBasis, isSameBasis } from "../model/conf-basis.ts";
import type { ConfParts } from "../plan/plan.ts";
import type { Logger } from "../run/logger.ts";
import type { Ingress } from "../source/kinds.ts";
import { type AdmissionContext, checkIngress, type Verdict } from "./check.ts";
import { trialParts } from "./trial-parts.ts";

export type AskNginx = (parts: ConfParts) => Promise<TrialAnswer>;

export interface AdmitterOptions {
  readonly context: () => AdmissionContext;
  readonly ask: AskNginx;
  /** Where sockets of tested confs may be opened. */
  readonly trialDir: string;
  readonly logger: Logger;
}

/** Parts that are remembered. */
const limit = 5000;

export class Admitter {
  readonly #o: AdmitterOptions;
  #basis: ConfBasis | undefined;
  /** Ids and keys of parts that nginx takes under these settings; what it refuses another Ingress may mend. */
  readonly #good = new Set<string>();

  constructor(options: AdmitterOptions) {
    this.#o = options;
  }

  /** At once where it brings nothing that nginx was not asked about before. */
  verdictOn(ingress: Ingress): Verdict | Promise<Verdict> {
    const context = this.#o.context();
    const { parts, basis, ...verdict } = checkIngress(ingress, context);
    if (parts === undefined || basis === undefined) return verdict;
    if (this.#basis === undefined || !isSameBasis(this.#basis, basis)) this.#good.clear();
    this.#basis = basis;
    const trial = trialParts(without(parts, this.#good), this.#o.trialDir);
    return keysOf(trial).length === 0 ? verdict : this.#tried(trial, verdict, basis, (key, reason) => refusal(key, reason, parts, context));
  }

  async #tried(trial: ConfParts, verdict: Verdict, basis: ConfBasis, words: (key: string, reason: string) => string): Promise<Verdict> {
    const answer = await this.#o.ask(trial);
    if (answer.kind === "untested") {
      this.#o.logger.debug(2, "an Ingress is admitted without a test of its configuration", { reason: answer.why });
      return verdict;
    }
    const { refused } = answer;
    if (this.#good.size > limit) this.#good.clear();
    if (this.#basis !== undefined && isSameBasis(this.#basis, basis))
      for (const key of keysOf(trial)) if (!refused.has(key)) this.#good.add(key);
    const [bad] = refused;
    return bad === undefined ? verdict : { ...verdict, refusal: words(...bad) };
  }
}

function refusal(key: string, reason: string, parts: ConfParts, context: AdmissionContext): string {
  const annotation = annotationOf(key, parts, reason);
  const prefix = annotation === undefined ? "" : `annotation ${context.options.annotations.prefix}/${annotation}: `;
  return `${prefix}${refusedText(reason)}`;
}

function keysOf({ profiles, servers, streams }: ConfParts): string[] {
  return [...profiles.keys(), ...servers.keys(), ...streams.keys()];
}

function without({ profiles, servers, streams }: ConfParts, known: ReadonlySet<string>): ConfParts {
  const rest = <T>(parts: ReadonlyMap<string, T>) => new Map([...parts].filter(([key]) => !known.has(key)));
  return { profiles: rest(profiles), servers: rest(servers), streams: rest(streams) };
}
