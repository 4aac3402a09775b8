/** The files from which nginx's stream part takes endpoints and passed-through hosts at run time. */

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { EndpointDocument } from "../../lua-src/wire.ts";
import type { Passthrough } from "../model/stream.ts";
import { endpointText, passthroughFile, streamFiles } from "../plan/stream-files.ts";
import { writeWhole } from "./files.ts";

/** Workers of another user read them. */
const mode = 0o644;

/** Milliseconds that a name stays when no service needs it any more: a connection may just be asking for it. */
const nameStays = 30_000;

export class StreamEndpoints {
  readonly #dir: string;
  readonly #now: () => number;
  /** Text by file. */
  readonly #written = new Map<string, string>();
  /** Names by stream key. */
  readonly #names = new Map<string, readonly string[]>();
  /** When a file that nobody needs any more goes. */
  readonly #leaving = new Map<string, number>();

  /** The folder is there. */
  constructor(dir: string, now: () => number = () => performance.now()) {
    this.#dir = dir;
    this.#now = now;
  }

  /** Endpoints by stream key; connections that begin from now on go to them. */
  write(streams: ReadonlyMap<string, readonly EndpointDocument[]>): void {
    for (const [key, endpoints] of streams) {
      const { service, names } = streamFiles(endpoints);
      for (const [name, text] of names) this.#put(name, text);
      this.#put(key, service);
      this.#names.set(key, [...names.keys()]);
    }
    this.#sweep();
  }

  /** TLS of these hosts too is passed through from now on. */
  pass(hosts: readonly Passthrough[]): void {
    for (const host of hosts) this.#put(passthroughFile(host.host), endpointText(host));
  }

  /** And of no others. */
  passOnly(hosts: readonly Passthrough[]): void {
    const wanted = new Set(hosts.map(({ host }) => passthroughFile(host)));
    for (const file of readdirSync(this.#dir)) if (isHost(file) && !wanted.has(file)) this.#remove(file);
  }

  /** Only these streams are still there. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of [...this.#names.keys()]) if (!keys.has(key)) this.#names.delete(key);
    this.#sweep();
  }

  #sweep(): void {
    const wanted = new Set([...this.#names].flat(2));
    for (const file of readdirSync(this.#dir).filter((f) => !isHost(f))) {
      const due = this.#leaving.get(file) ?? this.#now() + nameStays;
      this.#leaving.set(file, due);
      if (wanted.has(file)) this.#leaving.delete(file);
      else if (due <= this.#now()) this.#remove(file);
    }
  }

  #remove(file: string): void {
    rmSync(join(this.#dir, file), { force: true });
    this.#leaving.delete(file);
    this.#written.delete(file);
  }

  #put(file: string, text: string): void {
    if (this.#written.get(file) === text) return;
    writeWhole(join(this.#dir, file), text, mode);
    this.#written.set(file, text);
  }
}

function isHost(file: string): boolean {
  return /^[0-9a-f]{64}$/.test(file);
}
