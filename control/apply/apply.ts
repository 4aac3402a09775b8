/**
 * Plan × Applied → steps in an order in which no request meets a missing half: certificates and backends, then
 * nginx.conf where it must change (written, tested, reloaded, new workers waited for), then hosts, then removals.
 * One at a time; the caller repeats a failed one.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { BatchAnswer } from "../../lua-src/wire.ts";
import { type ConfBasis, isSameBasis } from "../model/conf-basis.ts";
import type { Finding } from "../model/finding.ts";
import { type ConfSurroundings, confView } from "../plan/conf.ts";
import type { Profile, RenderedConf } from "../plan/conf-view.ts";
import type { Plan } from "../plan/plan.ts";
import type { Logger } from "../run/logger.ts";
import { Applied, isEmpty } from "./applied.ts";
import { type DataPlane, DataPlaneError, type Deltas } from "./dataplane.ts";
import { dropFiles, writeFiles, writeWhole } from "./files.ts";
import type { Nginx } from "./nginx.ts";
import { renderConf } from "./render.ts";

export interface ApplyOptions {
  readonly nginx: Nginx;
  readonly dataPlane: DataPlane;
  readonly confFile: string;
  readonly templateDir: string;
  readonly around: ConfSurroundings;
  readonly logger: Logger;
  /** Resolves when the next reload may happen (--sync-rate-limit). */
  readonly mayReload: () => Promise<void>;
}

export interface ApplyState {
  readonly version: number;
  readonly conf: string;
  readonly reloads: number;
  /** Newest last, bounded. */
  readonly reloadReasons: readonly { readonly at: string; readonly reason: string; readonly ok: boolean }[];
  readonly lastReloadOk: boolean;
  readonly failedReloads: number;
  /** Milliseconds since 1970 of the last successful start or reload; 0 before the first. */
  readonly lastSuccess: number;
  readonly nginxPid: number;
}

/** The conf that runs, and what it was made of. */
interface Running {
  readonly basis: ConfBasis;
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly rendered: RenderedConf;
}

export class Apply {
  readonly #o: ApplyOptions;
  readonly #applied = new Applied();
  #version = 0;
  #running: Running | undefined;
  #adopting = false;
  #reloads = 0;
  #failedReloads = 0;
  #lastSuccess = 0;
  #lastReloadOk = true;
  #reasons: { at: string; reason: string; ok: boolean }[] = [];
  /** Conf texts that nginx refused, with its reason: not tried again until they change. */
  readonly #refused = new Map<string, string>();

  constructor(options: ApplyOptions) {
    this.#o = options;
    this.#adopting = options.nginx.adopt();
    if (this.#adopting) options.logger.info("took over the running nginx", { pid: options.nginx.pid });
  }

  state(): ApplyState {
    return {
      version: this.#version,
      conf: this.#running?.rendered.hash ?? "",
      reloads: this.#reloads,
      reloadReasons: this.#reasons,
      lastReloadOk: this.#lastReloadOk,
      failedReloads: this.#failedReloads,
      lastSuccess: this.#lastSuccess,
      nginxPid: this.#o.nginx.pid,
    };
  }

  /** nginx died: everything is sent again to the next one. */
  forget(): void {
    this.#applied.clear();
    this.#version = 0;
  }

  /** The endpoints of some backends changed and nothing else. */
  async applyBackends(texts: ReadonlyMap<string, string>): Promise<void> {
    const upsert = new Map(
      [...texts].filter(([id, text]) => this.#applied.backend(id) !== undefined && this.#applied.backend(id) !== text),
    );
    if (upsert.size > 0) await this.#send({ backends: { upsert, remove: [] } });
  }

  /** Brings the data plane to the plan. The findings are about what it refused. */
  async apply(plan: Plan): Promise<Finding[]> {
    const findings: Finding[] = [];
    const conf = this.#chooseConf(plan);
    if (!this.#o.nginx.running) await this.#start(conf, findings);
    else if (this.#adopting) await this.#adopt(conf);
    const change = this.#applied.difference(plan.documents);
    if (this.#running !== undefined && this.#running.rendered.hash === conf.rendered.hash) {
      await this.#sendAll(change, findings);
      this.#o.nginx.quitOrphans();
      return findings;
    }
    const { certificates, backends, servers, users } = change;
    const early = { certificates: keep(certificates), backends: keep(backends), servers: keep(servers), users: keep(users) };
    if (!isEmpty(early)) await this.#send(early);
    await this.#reload(conf, findings);
    await this.#sendAll(this.#applied.difference(plan.documents), findings);
    return findings;
  }

  /** The running conf where it still serves the plan, else one that holds just what is needed. */
  #chooseConf(plan: Plan): Running {
    const now = this.#running;
    if (now !== undefined && [...plan.profiles.keys()].every((id) => now.profiles.has(id))) {
      if (isSameBasis(now.basis, plan.basis)) return now;
      const same = this.#render(plan.basis, now.profiles);
      if (same.rendered.hash === now.rendered.hash) {
        this.#running = same;
        return same;
      }
    }
    return this.#render(plan.basis, plan.profiles);
  }

  #render(basis: ConfBasis, profiles: ReadonlyMap<string, Profile>): Running {
    const sorted = [...profiles.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    return { basis, profiles, rendered: renderConf(confView(basis, sorted, this.#o.around), this.#o.templateDir) };
  }

  async #start(conf: Running, findings: Finding[]): Promise<void> {
    this.forget();
    this.#adopting = false;
    const usable = await this.#tested(conf, findings);
    if (usable === undefined) throw new Error("nginx refuses every configuration; see the findings");
    writeWhole(this.#o.confFile, usable.rendered.text);
    try {
      await this.#o.nginx.start();
    } catch (error) {
      // Workers of a dead master may hold the ports: without reuseport nothing else can listen beside them.
      const orphans = this.#o.nginx.orphans();
      if (orphans.length === 0) throw error;
      this.#o.nginx.quitOrphans();
      await this.#o.nginx.left(orphans, 5000);
      await this.#o.nginx.start();
    }
    await this.#answers(usable.rendered.hash);
    this.#running = usable;
    this.#lastSuccess = Date.now();
    this.#o.logger.info("nginx started", { pid: this.#o.nginx.pid, conf: usable.rendered.hash });
  }

  /** A controller before this one filled the data plane: what it left is sent again or removed. */
  async #adopt(conf: Running): Promise<void> {
    const state = await this.#o.dataPlane.state();
    if (state === undefined) throw new Error("nginx runs but its configuration socket does not answer");
    if (state.version > 0) this.#applied.seed(await this.#o.dataPlane.keys());
    this.#version = state.version;
    if (state.conf === conf.rendered.hash) this.#running = conf;
    this.#adopting = false;
  }

  async #reload(conf: Running, findings: Finding[]): Promise<void> {
    const reason = this.#reason(conf);
    const usable = await this.#tested(conf, findings);
    if (usable === undefined || usable.rendered.hash === this.#running?.rendered.hash) {
      this.#record(reason, false);
      return;
    }
    await this.#o.mayReload();
    writeWhole(this.#o.confFile, usable.rendered.text);
    this.#o.logger.info("reloading nginx", { reason, conf: usable.rendered.hash });
    const old = this.#o.nginx.reload();
    try {
      await this.#answers(usable.rendered.hash);
    } catch (error) {
      this.#record(reason, false);
      throw error;
    }
    await this.#refillIfEmptied(conf, usable);
    if (!(await this.#o.nginx.left(old, 10_000))) this.#o.logger.warning("old nginx workers still accept", { pids: old.map(String) });
    this.#running = usable;
    dropFiles(this.#o.around.filesDir, usable.profiles.values());
    this.#record(reason, true);
  }

  /** A dictionary of another size starts empty: what it held is sent again. */
  async #refillIfEmptied(wanted: Running, usable: Running): Promise<void> {
    const before = this.#running?.basis.settings["lua-shared-dicts"];
    if (usable !== wanted || before === undefined || before === usable.basis.settings["lua-shared-dicts"]) return;
    this.#applied.seed(await this.#o.dataPlane.keys());
    this.#version = (await this.#o.dataPlane.state())?.version ?? 0;
  }

  #reason(conf: Running): string {
    const now = this.#running;
    if (now === undefined) return "the conf of a former controller differs";
    const missing = [...conf.profiles.values()].filter((p) => !now.profiles.has(p.id));
    const first = missing[0];
    if (first === undefined || !isSameBasis(now.basis, conf.basis)) return "global settings changed";
    const what = first.directives.map(
      (d) => `${d.name} ${d.args.map((a) => (typeof a !== "object" ? a : "file" in a ? a.file : a.literal)).join(" ")}`,
    );
    return `${missing.length} new profile(s), ${first.id}: ${[first.family, ...what].join(", ").slice(0, 200)}`;
  }

  #record(reason: string, ok: boolean): void {
    this.#reloads += ok ? 1 : 0;
    this.#failedReloads += ok ? 0 : 1;
    if (ok) this.#lastSuccess = Date.now();
    this.#lastReloadOk = ok;
    this.#reasons = [...this.#reasons, { at: new Date().toISOString(), reason, ok }].slice(-50);
  }

  /** The conf that nginx takes: the wanted one, else without new profiles, else with the settings of before. */
  async #tested(conf: Running, findings: Finding[]): Promise<Running | undefined> {
    const now = this.#running;
    const good = await this.#test(conf);
    if (good === undefined) return conf;
    findings.push({ code: "config-refused", about: { kind: "ConfigMap", namespace: "", name: "nginx.conf" }, at: "", text: good });
    const known = now?.profiles ?? new Map([...conf.profiles].filter(([, p]) => p.directives.length === 0));
    const passing = new Map(known);
    for (const [id, profile] of conf.profiles) {
      if (known.has(id)) continue;
      if ((await this.#test(this.#render(conf.basis, new Map([...known, [id, profile]])))) === undefined) passing.set(id, profile);
    }
    const candidates = [this.#render(conf.basis, passing)];
    if (now !== undefined) candidates.push(this.#render(now.basis, passing), now);
    for (const candidate of candidates) if ((await this.#test(candidate)) === undefined) return candidate;
    return undefined;
  }

  /** Undefined when nginx takes it, else its reason. */
  async #test(conf: Running): Promise<string | undefined> {
    const { hash, text } = conf.rendered;
    if (hash === this.#running?.rendered.hash) return undefined;
    const known = this.#refused.get(hash);
    if (known !== undefined) return known;
    writeFiles(this.#o.around.filesDir, conf.profiles.values());
    const file = `${this.#o.confFile}.candidate`;
    writeWhole(file, text);
    const result = await this.#o.nginx.test(file);
    if (result.ok) return undefined;
    const reason = result.text.replaceAll(file, "nginx.conf");
    if (this.#refused.size > 1000) this.#refused.clear();
    this.#refused.set(hash, reason);
    this.#o.logger.error("nginx refuses a configuration", { reason });
    return reason;
  }

  /** Waits until a worker with that conf answers. */
  async #answers(hash: string): Promise<void> {
    const until = Date.now() + 15_000;
    for (;;) {
      const state = await this.#o.dataPlane.state();
      if (state?.conf === hash) return;
      if (Date.now() > until) throw new Error(`nginx does not come up with conf ${hash}`);
      if (!this.#o.nginx.running) throw new Error("nginx died while it was starting");
      await pause(4);
    }
  }

  async #sendAll(change: Required<Deltas>, findings: Finding[]): Promise<void> {
    const { general, ...rest } = change;
    const deltas: Deltas = general === "" ? rest : change;
    if (isEmpty(deltas)) return;
    const answer = await this.#send(deltas);
    for (const problem of answer.problems ?? []) {
      findings.push({
        code: "path-invalid",
        about: { kind: "Host", namespace: "", name: problem.host },
        at: problem.path,
        text: problem.text,
      });
    }
  }

  async #send(deltas: Deltas): Promise<BatchAnswer> {
    try {
      const answer = await this.#o.dataPlane.patch(this.#version + 1, deltas);
      this.#version = answer.version;
      this.#applied.acknowledge(deltas);
      return answer;
    } catch (error) {
      if (error instanceof DataPlaneError && error.status === 409) {
        this.#version = (await this.#o.dataPlane.state())?.version ?? this.#version;
      }
      throw error;
    }
  }
}

function keep<T extends { readonly upsert: ReadonlyMap<string, string> }>(
  delta: T,
): { upsert: ReadonlyMap<string, string>; remove: readonly string[] } {
  return { upsert: delta.upsert, remove: [] };
}
