/**
 * A folder of manifests as the source of objects. Changes are noticed by inotify, and by looking again every few seconds
 * where inotify says nothing (network file systems, too few watches). One look gives at most one batch.
 */

import { type FSWatcher, promises as fs, watch } from "node:fs";
import { join, relative as relativePath } from "node:path";
import type { Finding } from "../model/finding.ts";
import { type Clock, systemClock } from "../run/clock.ts";
import type { Logger } from "../run/logger.ts";
import { isManifest, type Look, lookAt, type Scan, scanFolder } from "./folder-scan.ts";
import { fileFinding, type Manifest, readManifest } from "./manifest.ts";
import { type ManifestFile, ManifestSet } from "./manifest-set.ts";
import type { Sink, Source } from "./source.ts";

export interface FolderOptions {
  readonly path: string;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** A file is read once it has not changed for so long; milliseconds. */
  readonly settleMs?: number;
  readonly rescanMs?: number;
}

interface FileState extends ManifestFile {
  /** Look.stamp of what was read; empty: read again at the next look. */
  readonly stamp: string;
}

interface Watched {
  readonly identity: string;
  readonly watcher: FSWatcher;
}

/** Files read at the same time. */
const atOnce = 32;

/** Wait after a look that failed as a whole. */
const failureMs = 1000;

/** Looks at a start-up folder whose files never come to rest, before it counts as read. */
const unsettledLooks = 40;

const empty: Manifest = { claims: [], findings: [], readable: true };

export class FolderSource implements Source {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #settleMs: number;
  readonly #rescanMs: number;
  readonly #set = new ManifestSet();
  /** By absolute path. */
  readonly #watchers = new Map<string, Watched>();
  /** By path; in order of it when published. */
  #files = new Map<string, FileState>();
  #unreadable: ReadonlyMap<string, string> = new Map();
  /** Files seen while they were changing: the stamp, and since when it holds. */
  readonly #settling = new Map<string, { readonly stamp: string; readonly since: number }>();
  readonly #dirty = new Set<string>();
  #everything = true;
  #timer: NodeJS.Timeout | undefined;
  #wakeAt = 0;
  #busy: Promise<void> | undefined;
  #stopped = false;
  #failed = false;
  #unsorted = false;
  #synced = false;
  #looks = 0;
  #lastFindings = "[]";
  #lastLook = 0;
  #sink: Sink | undefined;

  constructor(options: FolderOptions) {
    this.#path = options.path;
    this.#logger = options.logger.named("folder");
    this.#clock = options.clock ?? systemClock;
    this.#settleMs = options.settleMs ?? 15;
    this.#rescanMs = options.rescanMs ?? 5000;
  }

  start(sink: Sink): void {
    this.#sink = sink;
    this.#wake(0);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    for (const { watcher } of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    await this.#busy;
  }

  describe(): string {
    const age = Math.round((this.#clock.now() - this.#lastLook) / 1000);
    return `folder ${this.#path}: ${this.#files.size} files, ${this.#set.size} objects, looked at ${age} s ago`;
  }

  /** Looks again in ms at the latest. */
  #wake(ms: number): void {
    if (this.#stopped) return;
    const at = this.#clock.now() + ms;
    if (this.#timer !== undefined && this.#wakeAt <= at) return;
    clearTimeout(this.#timer);
    this.#wakeAt = at;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#busy !== undefined) return;
      this.#busy = this.#look().finally(() => {
        this.#busy = undefined;
        this.#planNextLook();
      });
    }, ms);
  }

  #planNextLook(): void {
    if (this.#dirty.size > 0 || this.#everything || this.#settling.size > 0) {
      this.#wake(this.#failed ? failureMs : this.#settleMs);
      return;
    }
    this.#wake(Math.max(0, this.#lastLook + this.#rescanMs - this.#clock.now()));
  }

  async #look(): Promise<void> {
    const full = this.#everything || this.#clock.now() - this.#lastLook >= this.#rescanMs;
    const dirty = [...this.#dirty];
    this.#dirty.clear();
    this.#everything = false;
    this.#failed = false;
    try {
      const changed = full ? await this.#lookAtAll() : await this.#lookAtSome([...dirty, ...this.#settling.keys()]);
      if (this.#stopped) return;
      if (changed || !this.#synced) this.#publish();
    } catch (error) {
      this.#logger.error("cannot look at the folder", { folder: this.#path, error: error as Error });
      this.#everything = true;
      this.#failed = true;
    }
  }

  async #lookAtAll(): Promise<boolean> {
    this.#lastLook = this.#clock.now();
    // Watch first: what changes during the scan must be seen again.
    const first = await scanFolder(this.#path);
    const scan = this.#follow(first) ? await scanFolder(this.#path) : first;
    let changed = JSON.stringify([...scan.unreadable]) !== JSON.stringify([...this.#unreadable]);
    this.#unreadable = scan.unreadable;
    for (const path of [...this.#files.keys(), ...this.#settling.keys()]) {
      if (scan.files.has(path) || this.#hidden(path, scan)) continue;
      this.#settling.delete(path);
      changed = this.#files.delete(path) || changed;
    }
    const files = [...scan.files];
    for (let from = 0; from < files.length; from += atOnce) {
      const taken = await Promise.all(files.slice(from, from + atOnce).map(([path, look]) => this.#take(path, look)));
      changed = changed || taken.includes(true);
    }
    return changed;
  }

  async #lookAtSome(paths: readonly string[]): Promise<boolean> {
    let changed = false;
    for (const path of new Set(paths)) {
      const look = await lookAt(join(this.#path, path));
      if (look !== undefined) {
        changed = (await this.#take(path, look)) || changed;
      } else {
        this.#settling.delete(path);
        changed = this.#files.delete(path) || changed;
      }
    }
    return changed;
  }

  /** A file below a folder that cannot be listed now may well exist. */
  #hidden(path: string, scan: Scan): boolean {
    for (const folder of scan.unreadable.keys()) {
      if (folder === path || path.startsWith(`${folder}/`)) return true;
    }
    const root = scan.unreadable.get("");
    return root !== undefined && root !== "there is no such folder";
  }

  /** Reads the file if it is new and at rest. True: something changed. */
  async #take(path: string, look: Look): Promise<boolean> {
    const state = this.#files.get(path);
    if (state?.stamp === look.stamp) {
      this.#settling.delete(path);
      return false;
    }
    if (!this.#atRest(path, look)) return false;
    const manifest = await this.#read(path);
    const after = await lookAt(join(this.#path, path));
    if (after?.stamp !== look.stamp) {
      this.#settling.set(path, { stamp: after?.stamp ?? "", since: this.#clock.now() });
      return false;
    }
    this.#settling.delete(path);
    // What the file said while it could be read goes on being served.
    const claims = manifest.readable ? manifest.claims : (state?.manifest ?? empty).claims;
    const unread = manifest.findings.some((finding) => finding.at === unopened);
    const next: FileState = { stamp: unread ? "" : look.stamp, mtime: look.mtime, manifest: { ...manifest, claims } };
    const changed = unread ? JSON.stringify(state?.manifest.findings) !== JSON.stringify(manifest.findings) : true;
    this.#unsorted ||= state === undefined;
    this.#files.set(path, next);
    return changed;
  }

  #atRest(path: string, look: Look): boolean {
    const now = this.#clock.now();
    const age = now - look.mtime;
    if (age >= this.#settleMs) return true;
    // Just written, or with a time in the future: seen unchanged since an earlier look?
    const earlier = this.#settling.get(path);
    if (earlier?.stamp === look.stamp) return now - earlier.since >= this.#settleMs;
    this.#settling.set(path, { stamp: look.stamp, since: now });
    return false;
  }

  async #read(path: string): Promise<Manifest> {
    let bytes: Buffer;
    try {
      bytes = await fs.readFile(join(this.#path, path));
    } catch (error) {
      return { ...empty, readable: false, findings: [fileFinding(path, unopened, (error as Error).message)] };
    }
    try {
      return readManifest(path, new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    } catch (error) {
      if (error instanceof TypeError) return { ...empty, readable: false, findings: [fileFinding(path, "", "is not UTF-8 text")] };
      throw error;
    }
  }

  #publish(): void {
    const sink = this.#sink!;
    if (this.#unsorted) this.#files = new Map([...this.#files].sort(([a], [b]) => (a < b ? -1 : 1)));
    this.#unsorted = false;
    const { events, findings } = this.#set.replace(this.#files);
    if (events.length > 0) sink.change(events);
    const all: Finding[] = [...[...this.#unreadable].map(([path, text]) => fileFinding(join(this.#path, path), "", text)), ...findings];
    const text = JSON.stringify(all);
    if (text !== this.#lastFindings) {
      this.#lastFindings = text;
      sink.findings(all);
    }
    this.#looks += 1;
    if (!this.#synced && (this.#settling.size === 0 || this.#looks >= unsettledLooks)) {
      this.#synced = true;
      sink.synced();
    }
  }

  /** Watches the folders of the scan and no others. True: some are new. */
  #follow(scan: Scan): boolean {
    for (const [folder, { identity, watcher }] of this.#watchers) {
      if (scan.folders.get(folder) === identity) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    let added = false;
    for (const [folder, identity] of scan.folders) {
      if (!this.#stopped && !this.#watchers.has(folder)) added = this.#watch(folder, identity) || added;
    }
    return added;
  }

  #watch(folder: string, identity: string): boolean {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => this.#noticed(folder, name));
      watcher.on("error", () => {
        watcher.close();
        if (this.#watchers.get(folder)?.watcher === watcher) this.#watchers.delete(folder);
        this.#everything = true;
        this.#wake(this.#settleMs);
      });
      this.#watchers.set(folder, { identity, watcher });
      return true;
    } catch (error) {
      this.#logger.logOnce("cannot watch the folder, looking at it now and then instead", { folder, error: error as Error });
      return false;
    }
  }

  #noticed(folder: string, name: string | null): void {
    if (name !== null && isManifest(name)) {
      this.#dirty.add(relativePath(this.#path, join(folder, name)));
    } else if (name?.startsWith(".") && !name.startsWith("..")) {
      // Half-written files are named so until they are renamed; "..data" is how a mounted ConfigMap changes.
      return;
    } else {
      this.#everything = true;
    }
    this.#wake(this.#settleMs);
  }
}

/** Finding.at of a file that could not even be opened: its permissions may change without its stamp. */
const unopened = "open";
