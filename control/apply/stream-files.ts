/** The files from which nginx's stream part takes endpoints at run time. */

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { EndpointDocument } from "../../lua-src/wire.ts";
import { streamFiles } from "../plan/stream-files.ts";
import { writeWhole } from "./files.ts";

/** Workers of another user read them. */
const mode = 0o644;

export class StreamEndpoints {
  readonly #dir: string;
  /** Text by file. */
  readonly #written = new Map<string, string>();
  /** Names of the two states before: a connection may just be asking for one. */
  #before: readonly ReadonlySet<string>[] = [];
  readonly #names = new Map<string, ReadonlySet<string>>();

  /** The folder is there. */
  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Endpoints by stream key; connections that begin from now on go to them. */
  write(streams: ReadonlyMap<string, readonly EndpointDocument[]>): void {
    for (const [key, endpoints] of streams) {
      const { service, names } = streamFiles(endpoints);
      for (const [name, text] of names) this.#put(name, text);
      this.#put(key, service);
      this.#names.set(key, new Set(names.keys()));
    }
    this.#sweep();
  }

  /** Only these streams are still there. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of [...this.#names.keys()]) if (!keys.has(key)) this.#names.delete(key);
    this.#sweep();
  }

  #sweep(): void {
    const now = new Set([...this.#names.values()].flatMap((names) => [...names]));
    const wanted = new Set([...this.#names.keys(), ...now, ...this.#before.flatMap((names) => [...names])]);
    if (!this.#before.some((names) => isSame(names, now))) this.#before = [now, ...this.#before].slice(0, 2);
    for (const file of readdirSync(this.#dir)) {
      if (wanted.has(file)) continue;
      rmSync(join(this.#dir, file), { force: true });
      this.#written.delete(file);
    }
  }

  #put(file: string, text: string): void {
    if (this.#written.get(file) === text) return;
    writeWhole(join(this.#dir, file), text, mode);
    this.#written.set(file, text);
  }
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name));
}
