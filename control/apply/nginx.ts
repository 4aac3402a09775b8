/** The nginx process: found or started, tested, reloaded, restarted when it dies, stopped. It outlives this controller. */

import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, rmSync } from "node:fs";
import type { Logger } from "../run/logger.ts";
import { alive, childrenOf, isLeaving, nginxIn, titleOf } from "./processes.ts";

export interface NginxOptions {
  readonly binary: string;
  readonly runtimeDir: string;
  readonly confFile: string;
  readonly pidFile: string;
  /** Unix sockets on which it listens. */
  readonly sockets: readonly string[];
  readonly logger: Logger;
  /** The master is gone and nobody asked it to go. */
  readonly onDeath: () => void;
}

export type TestResult = { readonly ok: true } | { readonly ok: false; readonly text: string; readonly tooSlow?: true };

export class Nginx {
  readonly #options: NginxOptions;
  #master = 0;
  #watch: NodeJS.Timeout | undefined;
  #stopping = false;

  constructor(options: NginxOptions) {
    this.#options = options;
  }

  get pid(): number {
    return this.#master;
  }

  get running(): boolean {
    return this.#master !== 0 && alive(this.#master);
  }

  /** Takes over a master that a former controller left running; false when there is none. */
  adopt(): boolean {
    const { pidFile, runtimeDir } = this.#options;
    if (!existsSync(pidFile)) return false;
    const pid = Number(readFileSync(pidFile, "utf8").trim());
    if (!(pid > 1) || !alive(pid) || !titleOf(pid).startsWith("nginx: master process") || !nginxIn(runtimeDir).includes(pid)) return false;
    this.#follow(pid);
    return true;
  }

  /** Ends nginx -t after `timeout` ms. */
  async test(file: string, timeout = 60_000): Promise<TestResult> {
    const { binary, runtimeDir } = this.#options;
    // Its words go to a file: logs may be links to /dev/stderr, and a child's pipe cannot be opened by that name.
    const words = `${file}.log`;
    const out = openSync(words, "w", 0o600);
    let tooSlow = false;
    const problem = await new Promise<string | undefined>((resolve) => {
      const child = spawn(binary, ["-t", "-q", "-e", "stderr", "-p", runtimeDir, "-c", file], {
        stdio: ["ignore", out, out],
        timeout,
        killSignal: "SIGKILL",
      });
      child.once("error", (error) => resolve(error.message));
      child.once("exit", (code, name) => {
        tooSlow = name === "SIGKILL";
        resolve(code === 0 ? undefined : `nginx -t ended with ${name ?? code}`);
      });
    });
    closeSync(out);
    const text = readFileSync(words, "utf8");
    rmSync(words, { force: true });
    if (problem === undefined) return { ok: true };
    return { ok: false, text: firstError(text) || problem, ...(tooSlow ? { tooSlow } : {}) };
  }

  /** Starts a master; rejects when it ends at once. A former master's orphans go on serving until `quitOrphans`. */
  async start(): Promise<void> {
    const { binary, runtimeDir, confFile, pidFile, sockets } = this.#options;
    // a master that was killed leaves them, and nginx does not listen where a file is
    for (const file of [...sockets, pidFile]) rmSync(file, { force: true });
    // Its own words go where ours go; the pipe would die with us, and nginx is to outlive us.
    const child = spawn(binary, ["-e", "stderr", "-p", runtimeDir, "-c", confFile], {
      detached: true,
      // working_directory moves workers only
      cwd: runtimeDir,
      stdio: ["ignore", "inherit", "inherit"],
    });
    let ended = "";
    const end = new Promise<void>((resolve) => {
      child.once("error", (error) => {
        ended = error.message;
        resolve();
      });
      child.once("exit", (code, name) => {
        ended = `it ended at once (${name ?? code})`;
        resolve();
      });
    });
    while (ended === "" && !existsSync(pidFile)) await Promise.race([end, pause(5)]);
    if (ended !== "" || child.pid === undefined) throw new Error(`nginx does not start: ${ended}`);
    child.unref();
    this.#follow(child.pid);
  }

  /** A new master in place of the running one, whose workers stop accepting first. */
  async replace(): Promise<void> {
    clearInterval(this.#watch);
    // told to quit it would stay as long as its last worker, and then remove the new master's pid file
    signal(this.#master, "SIGKILL");
    this.#master = 0;
    const workers = this.orphans();
    this.quitOrphans();
    await this.left(workers, 5000);
    await this.start();
  }

  #follow(pid: number): void {
    this.#master = pid;
    clearInterval(this.#watch);
    this.#watch = setInterval(() => {
      if (alive(pid) || this.#stopping) return;
      clearInterval(this.#watch);
      this.#options.logger.warning("nginx master is gone", { pid });
      this.#options.onDeath();
    }, 100);
    this.#watch.unref();
  }

  /** Workers that a dead master left behind, and any other nginx of this folder. */
  orphans(): number[] {
    const all = nginxIn(this.#options.runtimeDir);
    const own = this.running ? [this.#master, ...childrenOf(this.#master, all)] : [];
    return all.filter((p) => !own.includes(p));
  }

  /** Lets orphans finish what they have; they stop accepting at once. */
  quitOrphans(): void {
    for (const pid of this.orphans()) signal(pid, "SIGQUIT");
  }

  workers(): number[] {
    return childrenOf(this.#master, nginxIn(this.#options.runtimeDir));
  }

  /** Workers of an earlier conf that still finish what they have. */
  leaving(): number[] {
    return nginxIn(this.#options.runtimeDir).filter((p) => p !== this.#master && isLeaving(p));
  }

  /** Tells the master to reload; returns the workers that have to go before all new connections meet the new conf. */
  reload(): readonly number[] {
    const old = this.workers();
    signal(this.#master, "SIGHUP");
    return old;
  }

  /** Resolves when each of these workers has stopped accepting; gives up after the time (ms) and says so with false. */
  async left(workers: readonly number[], timeout: number): Promise<boolean> {
    const until = Date.now() + timeout;
    while (!workers.every(isLeaving)) {
      if (Date.now() > until) return false;
      await pause(5);
    }
    return true;
  }

  /** Finishes open requests, then ends; after `timeout` ms without further ado. */
  async quit(timeout: number): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#watch);
    const pids = [...new Set([this.#master, ...this.orphans()])].filter((p) => p !== 0 && alive(p));
    for (const pid of pids) signal(pid, "SIGQUIT");
    const until = Date.now() + timeout;
    while (pids.some(alive) && Date.now() < until) await pause(20);
    for (const pid of pids.filter(alive)) signal(pid, "SIGTERM");
    while (pids.some(alive) && Date.now() < until + 2000) await pause(20);
    for (const pid of nginxIn(this.#options.runtimeDir)) signal(pid, "SIGKILL");
    this.#master = 0;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // gone already
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The first line with a level worth reading, without the date. */
function firstError(text: string): string {
  const line = text.split("\n").find((l) => /\[(emerg|alert|crit|error)\]/.test(l));
  return line === undefined ? "" : line.replace(/^\S+ \S+ /, "").replace(/^\[\w+\] \d+#\d+: /, "");
}
