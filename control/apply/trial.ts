/**
 * Parts of nginx.conf that nobody has stored yet → what nginx says of them. One test at a time, each in an emptied folder;
 * a part is refused when nginx takes it neither beside the built-in parts alone, under the settings that run or those that
 * are about to, nor beside all that is running.
 */

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type ConfBasis, isSameBasis } from "../model/conf-basis.ts";
import { noStreams } from "../model/stream.ts";
import type { ConfPaths, RenderedConf } from "../plan/conf-view.ts";
import { builtInParts, type ConfParts } from "../plan/plan.ts";
import { BadParts } from "./bad-parts.ts";
import { ConfTest, type TestFile, TooSlow } from "./conf-test.ts";
import type { Running } from "./tester.ts";

type TrialPaths = Pick<ConfPaths, "socket" | "passthroughSocket" | "pid">;

export interface TrialOptions {
  readonly folder: string;
  readonly running: () => Running | undefined;
  /** Of the conf that is to be running soon. */
  readonly wanted: () => ConfBasis | undefined;
  /** With these in place of the running nginx's own. */
  readonly render: (basis: ConfBasis, parts: ConfParts, paths: TrialPaths) => RenderedConf;
  readonly test: TestFile;
  /** PCRE's words by expression; rejects when nothing answers in time (milliseconds). */
  readonly expressions: (list: readonly string[], timeout: number) => Promise<ReadonlyMap<string, string>>;
}

export type TrialAnswer =
  | {
      readonly kind: "tested";
      /** nginx's words by id or key of what it refuses; empty: it takes all. */
      readonly refused: ReadonlyMap<string, string>;
      /** PCRE's words by regular expression. */
      readonly expressions: ReadonlyMap<string, string>;
    }
  | { readonly kind: "untested"; readonly why: string };

/** Milliseconds from the question to the answer. The API server waits ten seconds. */
const patience = 4000;
const mostWaiting = 16;

export class Trial {
  readonly #o: TrialOptions;
  readonly #conf: ConfTest;
  readonly folder: string;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(options: TrialOptions) {
    this.#o = options;
    this.#conf = new ConfTest(options.test);
    this.folder = options.folder;
    rmSync(options.folder, { recursive: true, force: true });
  }

  /** Never rejects but for a bug. */
  async of(parts: ConfParts, expressions: readonly string[] = []): Promise<TrialAnswer> {
    if (this.#waiting >= mostWaiting) return { kind: "untested", why: "too many others wait for their test" };
    const until = Date.now() + patience;
    this.#waiting += 1;
    const turn = this.#last.then(() => this.#run(parts, expressions, until));
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } catch (error) {
      if (error instanceof TooSlow) return { kind: "untested", why: "nginx takes too long" };
      throw error;
    } finally {
      this.#waiting -= 1;
    }
  }

  async #run(parts: ConfParts, list: readonly string[], until: number): Promise<TrialAnswer> {
    const now = this.#o.running();
    if (now === undefined) return { kind: "untested", why: "nginx does not run yet" };
    const expressions = await this.#refusedExpressions(list, until);
    if (expressions === undefined) return { kind: "untested", why: "nginx does not answer on expressions" };
    const fresh = without(parts, now.parts);
    const refused = isNothing(fresh) ? new Map<string, string>() : await this.#refusedParts(fresh, now, until);
    return { kind: "tested", refused, expressions };
  }

  /** Undefined: nothing answers in time. */
  async #refusedExpressions(list: readonly string[], until: number): Promise<ReadonlyMap<string, string> | undefined> {
    if (list.length === 0) return new Map();
    return await this.#o.expressions(list, Math.max(1, until - Date.now())).catch(() => undefined);
  }

  async #refusedParts(fresh: ConfParts, now: Running, until: number): Promise<ReadonlyMap<string, string>> {
    const soon = this.#o.wanted();
    const refusal = async (some: ConfParts) => {
      const reason = await this.#test(alone(now.basis), some, until);
      if (reason === undefined) return undefined;
      // Alone it may only lack what another Ingress's text defines, or a setting that waits for its reload.
      const beside = await this.#test(now.basis, joined(now.parts, some), until);
      if (beside === undefined || soon === undefined || isSameBasis(alone(soon), alone(now.basis))) return beside;
      return await this.#test(alone(soon), some, until);
    };
    const wanted = joined(builtInParts, fresh);
    const bad = new BadParts();
    if ((await refusal(wanted)) !== undefined) await bad.find(wanted, now.basis.settings, refusal);
    return bad.reasons;
  }

  async #test(basis: ConfBasis, parts: ConfParts, until: number): Promise<string | undefined> {
    const { folder } = this;

    const left = until - Date.now();
    if (left < 1) throw new TooSlow();
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    try {
      const [socket, passthroughSocket] = [join(folder, "configuration.sock"), join(folder, "passthrough.sock")];
      const conf = this.#o.render(basis, parts, { socket, passthroughSocket, pid: join(folder, "nginx.pid") });
      return await this.#conf.run(conf, join(folder, "nginx.conf"), left);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

function alone(basis: ConfBasis): ConfBasis {
  return { ...basis, streams: noStreams };
}

function isNothing({ profiles, servers, streams }: ConfParts): boolean {
  return profiles.size + servers.size + streams.size === 0;
}

function without(parts: ConfParts, there: ConfParts): ConfParts {
  const rest = <T>(of: ReadonlyMap<string, T>, known: ReadonlyMap<string, unknown>) => new Map([...of].filter(([key]) => !known.has(key)));
  return {
    profiles: rest(parts.profiles, there.profiles),
    servers: rest(parts.servers, there.servers),
    streams: rest(parts.streams, there.streams),
  };
}

function joined(a: ConfParts, b: ConfParts): ConfParts {
  return {
    profiles: new Map([...a.profiles, ...b.profiles]),
    servers: new Map([...a.servers, ...b.servers]),
    streams: new Map([...a.streams, ...b.streams]),
  };
}
