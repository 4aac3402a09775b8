/**
 * Plan × Applied → steps in an order in which no request meets a missing half: certificates and backends, then
 * nginx.conf where it must change (written, tested, reloaded, new workers waited for), then hosts, then removals.
 * One at a time; the caller repeats a failed one.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { EndpointDocument } from "../../lua-src/wire.ts";
import type { Settings } from "../catalog/settings.ts";
import { wafDirectives } from "../features/waf.ts";
import { type ConfBasis, isSameBasis } from "../model/conf-basis.ts";
import type { Finding } from "../model/finding.ts";
import type { StreamParts } from "../model/stream.ts";
import { confView } from "../plan/conf.ts";
import { fileDirectives } from "../plan/conf-files.ts";
import { lacking } from "../plan/conf-modules.ts";
import { builtInParts, type ConfParts, type Plan } from "../plan/plan.ts";
import { filesOf } from "../plan/profiles.ts";
import type { ApplyOptions, ApplyState, Outcome } from "./apply-options.ts";
import { serves } from "./bad-parts.ts";
import { beforeReload } from "./early.ts";
import { dropFiles, writeWhole } from "./files.ts";
import { needsRestart } from "./rebind.ts";
import { ReloadLog } from "./reload-log.ts";
import { reloadReason } from "./reload-reason.ts";
import { renderConf } from "./render.ts";
import { Sender } from "./sender.ts";
import { withoutTakenPorts } from "./stream-ports.ts";
import { takenTexts } from "./stream-texts.ts";
import { type Running, Tester } from "./tester.ts";
import { Trial } from "./trial.ts";

/** Milliseconds between two looks at leaving workers. */
const serialPause = 500;

export class Apply {
  readonly #o: ApplyOptions;
  readonly #sender: Sender;
  #running: Running | undefined;
  /** Of the last plan; not running yet while its reload waits. */
  #wanted: ConfBasis | undefined;
  #adopting = false;
  /** Until nginx has been asked to take the files anew, however long that has to wait. */
  #stale = false;
  readonly #log: ReloadLog;
  readonly #tester: Tester;
  /** For parts that are not wanted yet. */
  readonly trial: Trial;
  /** The same object each time, because settings are compared by identity. */
  readonly #withoutText = new WeakMap<Settings, Settings>();

  constructor(options: ApplyOptions) {
    this.#o = options;
    this.#sender = new Sender(options.dataPlane);
    this.#log = new ReloadLog(options.onReload);
    this.#tester = new Tester({ ...options, render: (basis, profiles) => this.#render(basis, profiles) });
    this.trial = new Trial({
      folder: options.trialDir,
      running: () => this.#running,
      wanted: () => this.#wanted,
      render: (basis, parts, paths) => {
        const around = { ...options.around, paths: { ...options.around.paths, ...paths } };
        return renderConf(confView(basis, parts, around), options.templateDir);
      },
      test: (file, timeout) => options.nginx.test(file, timeout),
      expressions: (list, timeout) => options.dataPlane.refusedExpressions(list, timeout),
    });
    this.#adopting = options.nginx.adopt();
    if (this.#adopting) options.logger.info("took over the running nginx", { pid: options.nginx.pid });
  }

  state(): ApplyState {
    return {
      version: this.#sender.version,
      conf: this.#running?.rendered.hash ?? "",
      ...this.#log.counts(),
      nginxPid: this.#o.nginx.pid,
    };
  }

  /** Files that nginx.conf names changed: it is made anew with the next plan. */
  renew(): void {
    this.#stale = true;
  }

  /** nginx died: everything is sent again to the next one. */
  forget(): void {
    this.#sender.forget();
  }

  /** The endpoints of some backends changed and nothing else. */
  async applyBackends(texts: ReadonlyMap<string, string>): Promise<void> {
    await this.#sender.send(this.#sender.changedBackends(texts));
  }

  /** The same for TCP and UDP services whose endpoints do not stand in the conf; by stream key. */
  applyStreams(endpoints: ReadonlyMap<string, readonly EndpointDocument[]>): void {
    this.#o.streamEndpoints.write(endpoints);
  }

  /** Brings the data plane to the plan, or as near to it as it can be without a reload that must wait. */
  async apply(plan: Plan): Promise<Outcome> {
    const { settings } = plan.basis;
    const { streamEndpoints } = this.#o;
    streamEndpoints.pass(plan.passthroughs);
    streamEndpoints.write(plan.streamEndpoints);
    const known = this.#tester.corrected(settings);
    const findings: Finding[] = [...this.#lacking(settings), ...known.findings];
    const streams = await this.#usableStreams(plan.basis.streams, findings);
    const usable = await this.#withUsableText(plan, known.settings, findings);
    this.#wanted = { ...plan.basis, settings: usable, streams };
    const conf = this.#chooseConf(plan, this.#wanted);
    if (!this.#o.nginx.running) await this.#start(conf, findings);
    else if (this.#adopting) await this.#adopt(conf);
    const change = this.#sender.difference(plan.documents);
    if (this.#running !== undefined && this.#running.rendered.hash === conf.rendered.hash) {
      await this.#sender.send(change);
      this.#o.nginx.quitOrphans();
      streamEndpoints.passOnly(plan.passthroughs);
      streamEndpoints.keep(new Set(plan.streamEndpoints.keys()));
      if (known.findings.length === 0 && this.#tester.bad.findings(plan).length === 0) this.#log.settled();
      return { findings: [...findings, ...this.#standing(plan)] };
    }
    await this.#sender.send(beforeReload(change, plan, conf, this.#running));
    streamEndpoints.passOnly(plan.passthroughs);
    const waitMs = this.#reloadWait(conf);
    if (waitMs > 0) return { findings: [...findings, ...this.#standing(plan)], waitMs };
    await this.#reload(conf, findings);
    await this.#sender.send(this.#sender.difference(plan.documents));
    streamEndpoints.keep(new Set(plan.streamEndpoints.keys()));
    return { findings: [...findings, ...this.#standing(plan)] };
  }

  /** About what is still as it was when it was tested or sent. */
  #standing(plan: Plan): Finding[] {
    return [...this.#tester.bad.findings(plan), ...this.#sender.findings(plan)];
  }

  /** Milliseconds until nginx may be reloaded, or may be asked about again. */
  #reloadWait(conf: Running): number {
    const leaving = conf.basis.settings["enable-serial-reloads"] ? this.#o.nginx.leaving() : [];
    const waitMs = leaving.length > 0 ? serialPause : this.#o.reloads.wait();
    if (waitMs > 0) {
      const reason = leaving.length > 0 ? "enable-serial-reloads: workers of the conf before are still at work" : "--sync-rate-limit";
      this.#o.logger.debug(1, "nginx.conf waits for its turn, all else is applied", { reason, waitMs, pids: leaving.map(String) });
    }
    return waitMs;
  }

  #lacking(settings: Settings): Finding[] {
    return lacking(settings, this.#o.around).map(({ key, code, text }) => ({ code, about: this.#o.configMap, at: `data.${key}`, text }));
  }

  /** What an nginx from before us holds is not known: then nothing is left out. */
  async #usableStreams(streams: StreamParts, findings: Finding[]): Promise<StreamParts> {
    const { nginx } = this.#o;
    // workers that a dead master left behind hold its ports
    const ours = nginx.running || nginx.orphans().length > 0;
    if (this.#running === undefined && ours) return streams;
    return await withoutTakenPorts(streams, ours ? (this.#running?.basis.streams.servers ?? []) : [], findings);
  }

  /** Stream snippets with a port that is not to be had are left out; those that run have theirs. */
  async #withUsableText(plan: Plan, settings: Settings, findings: Finding[]): Promise<Settings> {
    const now = this.#running;
    if (now === undefined && (this.#o.nginx.running || this.#o.nginx.orphans().length > 0)) return settings;
    const { taken, snippet } = await takenTexts(plan.parts.streams, settings["stream-snippet"], now);
    this.#tester.bad.setTaken(taken);
    if (snippet === undefined) return settings;
    findings.push({ code: "config-refused", about: this.#o.configMap, at: "data.stream-snippet", text: `${snippet}; it is left out` });
    const without = this.#withoutText.get(settings) ?? { ...settings, "stream-snippet": "" };
    this.#withoutText.set(settings, without);
    return without;
  }

  /** The running conf where it still serves the plan, else one that holds just what is needed. */
  #chooseConf(plan: Plan, basis: ConfBasis): Running {
    const now = this.#running;
    const wanted = this.#tester.bad.without(plan.parts, basis.settings);
    if (now !== undefined && serves(now.parts, wanted)) {
      if (isSameBasis(now.basis, basis) && !this.#stale) return now;
      const same = this.#render(basis, now.parts);
      if (same.rendered.hash === now.rendered.hash) {
        this.#stale = false;
        this.#running = same;
        return same;
      }
    }
    return this.#render(basis, wanted);
  }

  #render(basis: ConfBasis, parts: ConfParts): Running {
    const rendered = renderConf(confView(basis, parts, this.#o.around), this.#o.templateDir);
    const directives = [
      ...fileDirectives(basis.settings),
      ...wafDirectives(basis.settings),
      ...[...parts.profiles.values()].flatMap((p) => p.directives),
    ];
    return { basis, parts, rendered, files: filesOf(directives) };
  }

  async #start(conf: Running, findings: Finding[]): Promise<void> {
    this.forget();
    this.#adopting = false;
    const usable = await this.#tester.usable(conf, this.#running, findings);
    if (usable === undefined) throw new Error("nginx refuses every configuration; see the findings");
    writeWhole(this.#o.confFile, usable.rendered.text);
    try {
      await this.#o.nginx.start();
    } catch (error) {
      // Workers of a dead master may hold the ports: without reuseport nothing else can listen beside them.
      const orphans = this.#o.nginx.orphans();
      if (orphans.length === 0) {
        this.#tester.bad.addStreams(usable.parts, builtInParts, usable.basis.settings);
        throw error;
      }
      this.#o.nginx.quitOrphans();
      await this.#o.nginx.left(orphans, 5000);
      await this.#o.nginx.start();
    }
    await this.#answers(usable.rendered.hash);
    this.#running = usable;
    this.#log.started();
    this.#o.logger.info("nginx started", { pid: this.#o.nginx.pid, conf: usable.rendered.hash });
  }

  /** A controller before this one filled the data plane: what it left is sent again or removed. */
  async #adopt(conf: Running): Promise<void> {
    const running = await this.#sender.takeOver();
    if (running === conf.rendered.hash) {
      this.#running = conf;
      this.#log.started();
    }
    this.#adopting = false;
  }

  async #reload(conf: Running, findings: Finding[]): Promise<void> {
    const reason = reloadReason(this.#running, conf);
    this.#stale = false;
    const usable = await this.#tester.usable(conf, this.#running, findings);
    if (usable === undefined || usable.rendered.hash === this.#running?.rendered.hash) {
      this.#log.record(reason, false, findings.findLast((f) => f.code === "config-refused")?.text);
      return;
    }
    this.#o.reloads.take();
    writeWhole(this.#o.confFile, usable.rendered.text);
    this.#o.logger.info("reloading nginx", { reason, conf: usable.rendered.hash });
    const before = this.#running?.rendered.text;
    if (before !== undefined && needsRestart(before, usable.rendered.text)) {
      await this.#restart(usable);
      this.#log.record(`${reason}; restart, because addresses to listen on change`, true);
      return;
    }
    const old = this.#o.nginx.reload();
    try {
      await this.#answers(usable.rendered.hash);
    } catch (error) {
      this.#log.record(reason, false, (error as Error).message);
      this.#tester.refuse(usable, (error as Error).message);
      this.#takeBack(usable);
      throw error;
    }
    await this.#refillIfEmptied(usable);
    if (!(await this.#o.nginx.left(old, 10_000))) this.#o.logger.warning("old nginx workers still accept", { pids: old.map(String) });
    this.#running = usable;
    dropFiles(this.#o.around.filesDir, usable.files);
    this.#log.record(reason, true);
  }

  /** The test passed and nginx still stays with the conf of before, as it does when it cannot listen on a stream snippet's port. */
  #takeBack(refused: Running): void {
    const now = this.#running;
    if (now === undefined || !this.#o.nginx.running) return;
    this.#tester.bad.addStreams(refused.parts, now.parts, refused.basis.settings);
    writeWhole(this.#o.confFile, now.rendered.text);
  }

  /** Workers finish what they have; until the new ones listen, connections are refused for a moment. */
  async #restart(conf: Running): Promise<void> {
    this.#o.logger.warning("restarting nginx: a reload cannot move listeners to these addresses");
    await this.#o.nginx.replace();
    this.forget();
    await this.#answers(conf.rendered.hash);
    this.#running = conf;
  }

  /** A dictionary of another size starts empty: what it held is sent again. */
  async #refillIfEmptied(usable: Running): Promise<void> {
    const sizes = (running: Running) => running.rendered.text.match(/lua_shared_dict [^;]*;/g)?.join();
    if (this.#running === undefined || sizes(this.#running) === sizes(usable)) return;
    await this.#sender.takeOver();
  }

  /** Waits until a worker with that conf answers. */
  async #answers(hash: string): Promise<void> {
    const until = Date.now() + 15_000;
    for (;;) {
      if (await this.#o.dataPlane.connect(hash)) return;
      if (Date.now() > until) throw new Error(`nginx does not come up with conf ${hash}`);
      if (!this.#o.nginx.running) throw new Error("nginx died while it was starting");
      await pause(4);
    }
  }
}
