/** The whole verdict on an Ingress: that of the build, then nginx's own on what it would add to nginx.conf. */

import { annotationOf, refusedText } from "../apply/refused-part.ts";
import type { TrialAnswer } from "../apply/trial.ts";
import { type ConfBasis, isSameBasis } from "../model/conf-basis.ts";
import type { ConfParts } from "../plan/plan.ts";
import type { Logger } from "../run/logger.ts";
import type { Ingress } from "../source/kinds.ts";
import { type AdmissionContext, checkIngress, type Expression, type Verdict } from "./check.ts";
import { trialParts } from "./trial-parts.ts";

export type AskNginx = (parts: ConfParts, expressions: readonly string[]) => Promise<TrialAnswer>;

export interface AdmitterOptions {
  readonly context: () => AdmissionContext;
  readonly ask: AskNginx;
  /** Where sockets of tested confs may be opened. */
  readonly trialDir: string;
  readonly logger: Logger;
}

/** Parts, and regular expressions, that are remembered. */
const limit = 5000;

interface Trying {
  readonly parts: ConfParts;
  readonly expressions: readonly Expression[];
}

export class Admitter {
  readonly #o: AdmitterOptions;
  #basis: ConfBasis | undefined;
  /** Ids and keys of parts that nginx takes under these settings; what it refuses another Ingress may mend. */
  readonly #good = new Set<string>();
  /** Regular expressions that PCRE takes. */
  readonly #read = new Set<string>();

  constructor(options: AdmitterOptions) {
    this.#o = options;
  }

  /** At once where it brings nothing that nginx was not asked about before. */
  verdictOn(ingress: Ingress): Verdict | Promise<Verdict> {
    const context = this.#o.context();
    const { parts, expressions = [], basis, ...verdict } = checkIngress(ingress, context);
    if (parts === undefined || basis === undefined) return verdict;
    if (this.#basis === undefined || !isSameBasis(this.#basis, basis)) this.#good.clear();
    this.#basis = basis;
    const trying = {
      parts: trialParts(without(parts, this.#good), this.#o.trialDir),
      expressions: expressions.filter(({ text }) => !this.#read.has(text)),
    };
    if (keysOf(trying.parts).length + trying.expressions.length === 0) return verdict;
    return this.#tried(trying, verdict, basis, (key, reason) => refusal(key, reason, parts, context));
  }

  async #tried(trying: Trying, verdict: Verdict, basis: ConfBasis, words: (key: string, reason: string) => string): Promise<Verdict> {
    const { parts, expressions } = trying;
    const answer = await this.#o.ask(
      parts,
      expressions.map(({ text }) => text),
    );
    if (answer.kind === "untested") {
      this.#o.logger.debug(2, "an Ingress is admitted without a test of its configuration", { reason: answer.why });
      return verdict;
    }
    const unreadable = this.#unreadable(expressions, answer.expressions);
    if (unreadable !== undefined) return { ...verdict, refusal: unreadable };
    const { refused } = answer;
    if (this.#good.size > limit) this.#good.clear();
    if (this.#basis !== undefined && isSameBasis(this.#basis, basis))
      for (const key of keysOf(parts)) if (!refused.has(key)) this.#good.add(key);
    const [bad] = refused;
    return bad === undefined ? verdict : { ...verdict, refusal: words(...bad) };
  }

  #unreadable(asked: readonly Expression[], refused: ReadonlyMap<string, string>): string | undefined {
    if (this.#read.size > limit) this.#read.clear();
    for (const { text } of asked) if (!refused.has(text)) this.#read.add(text);
    const bad = asked.find(({ text }) => refused.has(text));
    return bad === undefined ? undefined : `${bad.at} is no regular expression: ${refused.get(bad.text)}`;
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
