/** What the data plane acknowledged, and the difference to what it should have. */

import type { Documents } from "../plan/documents.ts";
import type { Delta, Deltas } from "./dataplane.ts";

export type Kind = "hosts" | "backends" | "certificates" | "servers" | "users" | "networks";
const kinds: readonly Kind[] = ["hosts", "backends", "certificates", "servers", "users", "networks"];

/** Document text by key as the data plane holds it. */
export class Applied {
  readonly #maps: Record<Kind, Map<string, string>> = {
    hosts: new Map(),
    backends: new Map(),
    certificates: new Map(),
    servers: new Map(),
    users: new Map(),
    networks: new Map(),
  };
  #general = "";

  difference(wanted: Documents): Required<Deltas> {
    const delta = (kind: Kind): Delta => {
      const have = this.#maps[kind];
      const want = wanted[kind];
      const upsert = new Map<string, string>();
      for (const [key, text] of want) if (have.get(key) !== text) upsert.set(key, text);
      const remove: string[] = [];
      for (const key of have.keys()) if (!want.has(key)) remove.push(key);
      return { upsert, remove };
    };
    return {
      hosts: delta("hosts"),
      backends: delta("backends"),
      certificates: delta("certificates"),
      servers: delta("servers"),
      users: delta("users"),
      networks: delta("networks"),
      general: wanted.general === this.#general ? "" : wanted.general,
    };
  }

  acknowledge(deltas: Deltas): void {
    for (const kind of kinds) {
      for (const [key, text] of deltas[kind]?.upsert ?? []) this.#maps[kind].set(key, text);
      for (const key of deltas[kind]?.remove ?? []) this.#maps[kind].delete(key);
    }
    if (deltas.general !== undefined && deltas.general !== "") this.#general = deltas.general;
  }

  /** Keys that are there with a text that is not known: they differ from every wanted text. */
  seed(keys: Readonly<Record<Kind, readonly string[]>>): void {
    this.clear();
    for (const kind of kinds) for (const key of keys[kind]) this.#maps[kind].set(key, "");
  }

  backend(id: string): string | undefined {
    return this.#maps.backends.get(id);
  }

  clear(): void {
    for (const kind of kinds) this.#maps[kind].clear();
    this.#general = "";
  }
}

export function isEmpty(deltas: Deltas): boolean {
  return kinds.every((k) => (deltas[k]?.upsert.size ?? 0) === 0 && (deltas[k]?.remove.length ?? 0) === 0) && (deltas.general ?? "") === "";
}
