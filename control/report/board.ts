/** All current findings, from whoever made them; logs what is new and what is gone, and keeps since when. */

import { type Finding, findingCodes, findingText, severityOf } from "../model/finding.ts";
import { refText } from "../model/ids.ts";
import type { Logger } from "../run/logger.ts";

/** A finding as /findings, dbg and Events print it. */
export interface ReportedFinding {
  readonly code: string;
  readonly severity: string;
  /** "Ingress default/web" */
  readonly object: string;
  readonly at: string;
  readonly text: string;
  readonly hint: string;
  readonly also?: readonly string[];
  /** RFC 3339. */
  readonly since: string;
}

export class Board {
  readonly #logger: Logger;
  readonly #byOrigin = new Map<string, readonly Finding[]>();
  #current = new Map<string, { readonly finding: Finding; readonly since: string }>();
  readonly #listeners: ((finding: Finding) => void)[] = [];

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Called for each finding that was not there before. */
  onNew(listener: (finding: Finding) => void): void {
    this.#listeners.push(listener);
  }

  /** Replaces what this origin said before. */
  set(origin: string, findings: readonly Finding[]): void {
    // said often by those who have nothing to say
    if (findings.length === 0 && (this.#byOrigin.get(origin)?.length ?? 0) === 0) return;
    this.#byOrigin.set(origin, findings);
    const next = new Map<string, { readonly finding: Finding; readonly since: string }>();
    const now = new Date().toISOString();
    for (const finding of [...this.#byOrigin.values()].flat()) {
      const key = JSON.stringify([finding.code, finding.about, finding.at, finding.text]);
      if (next.has(key)) continue;
      const known = this.#current.get(key);
      next.set(key, known ?? { finding, since: now });
      if (known === undefined) this.#announce(finding);
    }
    for (const [key, { finding }] of this.#current) {
      if (!next.has(key)) this.#logger.info("resolved", { object: refText(finding.about), code: finding.code, at: finding.at });
    }
    this.#current = next;
  }

  #announce(finding: Finding): void {
    if (severityOf(finding) === "error") this.#logger.error(findingText(finding));
    else this.#logger.warning(findingText(finding));
    for (const listener of this.#listeners) listener(finding);
  }

  current(): Finding[] {
    return [...this.#current.values()].map(({ finding }) => finding);
  }

  all(): ReportedFinding[] {
    return [...this.#current.values()].map(({ finding, since }) => ({
      code: finding.code,
      severity: severityOf(finding),
      object: refText(finding.about),
      at: finding.at,
      text: finding.text,
      hint: findingCodes[finding.code].hint,
      ...(finding.also === undefined ? {} : { also: finding.also.map(refText) }),
      since,
    }));
  }
}
