/** A rendered conf → what nginx says of it. Texts that it refused are remembered. */

import type { RenderedConf } from "../plan/conf-view.ts";
import { writeWhole } from "./files.ts";
import type { TestResult } from "./nginx.ts";

export type TestFile = (file: string, timeout?: number) => Promise<TestResult>;

export class ConfTest {
  readonly #test: TestFile;
  /** By the conf's hash. */
  readonly #refused = new Map<string, string>();

  constructor(test: TestFile) {
    this.#test = test;
  }

  known(hash: string): string | undefined {
    return this.#refused.get(hash);
  }

  remember(hash: string, reason: string): void {
    if (this.#refused.size > 1000) this.#refused.clear();
    this.#refused.set(hash, reason);
  }

  forget(hash: string): void {
    this.#refused.delete(hash);
  }

  /** Undefined when nginx takes it, else its reason. Rejects with TooSlow after `timeout` ms. */
  async run(conf: RenderedConf, file: string, timeout?: number): Promise<string | undefined> {
    const known = this.#refused.get(conf.hash);
    if (known !== undefined) return known;
    writeWhole(file, conf.text);
    const result = await this.#test(file, timeout);
    if (result.ok) return undefined;
    if (result.tooSlow === true && timeout !== undefined) throw new TooSlow();
    const reason = result.text.replaceAll(file, "nginx.conf");
    this.remember(conf.hash, reason);
    return reason;
  }
}

export class TooSlow extends Error {}
