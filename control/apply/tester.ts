/** Which conf nginx takes: the wanted one, or the nearest to it where a setting or a profile is refused. */

import { defaultSettings, type Settings } from "../catalog/settings.ts";
import type { ConfBasis } from "../model/conf-basis.ts";
import type { Finding } from "../model/finding.ts";
import type { ObjectRef } from "../model/ids.ts";
import type { FileText } from "../model/model.ts";
import { noStreams } from "../model/stream.ts";
import type { RenderedConf } from "../plan/conf-view.ts";
import { builtInParts, type ConfParts } from "../plan/plan.ts";
import type { Logger } from "../run/logger.ts";
import { BadParts } from "./bad-parts.ts";
import { ConfTest, type TestFile } from "./conf-test.ts";
import { writeFiles } from "./files.ts";
import { isolate } from "./isolate.ts";

/** A conf and what it was made of. */
export interface Running {
  readonly basis: ConfBasis;
  readonly parts: ConfParts;
  readonly rendered: RenderedConf;
  /** That the conf names. */
  readonly files: ReadonlyMap<string, FileText>;
}

export interface TesterOptions {
  readonly nginx: { readonly test: TestFile };
  readonly confFile: string;
  readonly around: { readonly filesDir: string };
  /** Where the settings come from, for findings. */
  readonly configMap: ObjectRef;
  readonly logger: Logger;
  readonly render: (basis: ConfBasis, parts: ConfParts) => Running;
}

interface Corrected {
  readonly settings: Settings;
  readonly findings: readonly Finding[];
}

/** Milliseconds. */
const retryAfter = 60_000;

const noHeaders = { requestHeaders: [], responseHeaders: [] };
const bare = { ...noHeaders, streams: noStreams };

export class Tester {
  readonly bad = new BadParts();
  readonly #o: TesterOptions;
  readonly #conf: ConfTest;
  /** Settings with keys that nginx refuses → those without these keys. */
  readonly #corrected = new WeakMap<Settings, Corrected>();

  constructor(options: TesterOptions) {
    this.#o = options;
    this.#conf = new ConfTest((file, timeout) => options.nginx.test(file, timeout));
  }

  /** What is known of settings that were tried before. */
  corrected(settings: Settings): Corrected {
    return this.#corrected.get(settings) ?? { settings, findings: [] };
  }

  /** It passed the test and did not come up; maybe only because the machine was slow, so not for ever. */
  refuse(conf: Running, reason: string): void {
    const { hash } = conf.rendered;
    this.#conf.remember(hash, reason);
    setTimeout(() => this.#conf.forget(hash), retryAfter).unref();
  }

  /** Where nginx refuses the settings themselves: the same conf without the keys at fault. */
  async #withGoodSettings(conf: Running, now: Running | undefined, findings: Finding[]): Promise<Running> {
    const wanted = conf.basis.settings;
    if (now?.basis.settings === wanted) return conf;
    const before = now?.basis ?? { settings: defaultSettings, ...bare };
    const whole = (settings: Settings) => this.#test(this.#o.render({ ...conf.basis, settings }, conf.parts), now);
    const bareOnly = (settings: Settings) => this.#test(this.#o.render({ ...before, settings }, builtInParts), now);
    // Not with the running parts: profiles hold values that fit the settings they were made for.
    const test = (await whole(before.settings)) === undefined ? whole : bareOnly;
    const { settings, refused } = await isolate(wanted, before.settings, test);
    if (refused.length === 0) return conf;
    const reports = refused.map(({ key, reason }): Finding => {
      const text = `nginx refuses the value: ${reason}; ${now === undefined ? "the default holds" : "the value of before holds"}`;
      return { code: "config-refused", about: this.#o.configMap, at: `data.${key}`, text };
    });
    findings.push(...reports);
    this.#corrected.set(wanted, { settings, findings: reports });
    return this.#o.render({ ...conf.basis, settings }, conf.parts);
  }

  /** The conf that nginx takes: the wanted one, else without what is refused, else the one of before. */
  async usable(wanted: Running, now: Running | undefined, findings: Finding[]): Promise<Running | undefined> {
    if ((await this.#test(wanted, now)) === undefined) return wanted;
    const conf = await this.#withGoodSettings(wanted, now, findings);
    if ((await this.#test(conf, now)) === undefined) return conf;
    const basis = await this.#goodBasis(conf.basis, now, findings);
    await this.bad.find(conf.parts, basis.settings, (parts) => this.#test(this.#o.render(basis, parts), now));
    const parts = this.bad.without(conf.parts, basis.settings);
    const candidates = [basis, ...(now === undefined ? [] : [now.basis])].map((b) => this.#o.render(b, parts));
    if (now !== undefined) candidates.push(now);
    for (const candidate of candidates) if ((await this.#test(candidate, now)) === undefined) return candidate;
    return undefined;
  }

  /** Nothing but the built-in profiles and still refused: the headers of every request or answer are at fault. */
  async #goodBasis(basis: ConfBasis, now: Running | undefined, findings: Finding[]): Promise<ConfBasis> {
    const reason = await this.#test(this.#o.render(basis, builtInParts), now);
    if (reason === undefined) return basis;
    findings.push({ code: "config-refused", about: { kind: "ConfigMap", namespace: "", name: "nginx.conf" }, at: "", text: reason });
    const { requestHeaders, responseHeaders } = now?.basis ?? noHeaders;
    return { ...basis, requestHeaders, responseHeaders };
  }

  /** Undefined when nginx takes it, else its reason. */
  async #test(conf: Running, now: Running | undefined): Promise<string | undefined> {
    const { hash } = conf.rendered;
    if (hash === now?.rendered.hash) return undefined;
    const known = this.#conf.known(hash);
    if (known !== undefined) return known;
    writeFiles(this.#o.around.filesDir, conf.files);
    const reason = await this.#conf.run(conf.rendered, `${this.#o.confFile}.candidate`);
    if (reason !== undefined) this.#o.logger.error("nginx refuses a configuration", { reason });
    return reason;
  }
}
