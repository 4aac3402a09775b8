/** What one reflector knows: each object's version, and whether what comes next is newer. */

export interface Versioned {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly resourceVersion: string };
}

/** Deletions remembered at most; they matter only while their watch lasts. */
const goneLimit = 1000;

export class Versions {
  readonly #known = new Map<string, string>();
  readonly #gone = new Map<string, string>();

  /** True: the object is another than before. What a list says counts, whatever its version: a restored etcd counts anew. */
  listed(object: Versioned): boolean {
    return this.#set(keyOf(object), object.metadata.resourceVersion);
  }

  /** True: the event is news. Proxies and half-dead servers may repeat events or deliver them late. */
  changed(object: Versioned): boolean {
    const key = keyOf(object);
    const { resourceVersion } = object.metadata;
    const last = this.#known.get(key) ?? this.#gone.get(key);
    if (last !== undefined && isOlder(resourceVersion, last)) return false;
    if (this.#known.get(key) === undefined && last === resourceVersion) return false;
    this.#gone.delete(key);
    return this.#set(key, resourceVersion);
  }

  /** True: the object was there. */
  removed(object: Versioned): boolean {
    const key = keyOf(object);
    const { resourceVersion } = object.metadata;
    const known = this.#known.get(key);
    if (known !== undefined && isOlder(resourceVersion, known)) return false;
    this.#gone.set(key, resourceVersion);
    if (this.#gone.size > goneLimit) this.#gone.delete(this.#gone.keys().next().value!);
    return this.#known.delete(key);
  }

  /** Forgets all but these, after a full list; what was forgotten. */
  keepOnly(keys: ReadonlySet<string>): string[] {
    this.#gone.clear();
    const dropped = [...this.#known.keys()].filter((key) => !keys.has(key));
    for (const key of dropped) this.#known.delete(key);
    return dropped;
  }

  #set(key: string, version: string): boolean {
    if (this.#known.get(key) === version) return false;
    this.#known.set(key, version);
    return true;
  }
}

export function keyOf(object: Versioned): string {
  return `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
}

/** Versions are decimal numbers without a limit; of others nothing is known. */
export function isOlder(version: string, than: string): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(than)) return false;
  return version.length === than.length ? version < than : version.length < than.length;
}
