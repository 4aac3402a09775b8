/**
 * The shared dictionaries behind /configuration: one entry per host, backend, certificate and server name, a change
 * counter, and a bounded log that says which keys each change touched. Batches are stored whole or not at all.
 */
import { decode, encode } from "cjson.safe";
import { logError } from "../base/log";

export type Kind = "hosts" | "backends" | "certificates" | "servers" | "users" | "networks";

/** Entries as texts, ready to be stored. */
export interface Entries {
  readonly upsert: LuaTable<string, string>;
  readonly remove: readonly string[];
}

export interface StoredBatch {
  /** Absent for the whole-list POSTs, which have no version. */
  readonly version?: number;
  readonly hosts?: Entries;
  readonly backends?: Entries;
  readonly certificates?: Entries;
  readonly servers?: Entries;
  readonly users?: Entries;
  readonly networks?: Entries;
  readonly general?: string;
}

/** What one change touched; `all` when a kind had too many keys to list. */
export interface ChangeRecord {
  readonly touched: Record<Kind, readonly string[] | undefined>;
  readonly all: Record<Kind, boolean | undefined>;
  readonly general?: boolean;
}

const logLength = 256;
const keysPerRecord = 500;
const kinds: readonly Kind[] = ["certificates", "servers", "users", "networks", "backends", "hosts"];

const data = ngx.shared.get("configuration_data")!;
const dictionaryOf: Record<Kind, SharedDict> = {
  hosts: data,
  backends: data,
  certificates: ngx.shared.get("certificate_data")!,
  servers: ngx.shared.get("certificate_servers")!,
  users: data,
  networks: data,
};
const prefixOf: Record<Kind, string> = { hosts: "h:", backends: "b:", certificates: "", servers: "", users: "u:", networks: "a:" };
/** Named by hosts: they go when no host names them any more, so after the hosts. */
const removedLast: readonly Kind[] = ["users", "networks"];

/** Counts changes; a worker that has seen this value has nothing to do. */
function readSequence(): number {
  const [value] = data.get("seq");
  return (value as number | undefined) ?? 0;
}

function readVersion(): number {
  const [value] = data.get("version");
  return (value as number | undefined) ?? 0;
}

function readText(kind: Kind, key: string): string | undefined {
  const [value] = dictionaryOf[kind].get(prefixOf[kind] + key);
  return value as string | undefined;
}

/** Decoded entry; a broken one is logged and counts as absent, so it harms nothing else. */
function readEntry(kind: Kind, key: string): unknown {
  const text = readText(kind, key);
  if (text === undefined) {
    return undefined;
  }
  const [value, problem] = decode(text);
  if (value === undefined) {
    logError("stored entry is no JSON", `${kind} ${key}: ${problem}`);
  }
  return value;
}

function readGeneral(): string | undefined {
  const [value] = data.get("general");
  return value as string | undefined;
}

/** Sorted. */
function listKeys(kind: Kind): string[] {
  const prefix = prefixOf[kind];
  const keys: string[] = [];
  for (const key of dictionaryOf[kind].get_keys(0)) {
    if (prefix === "" || string.sub(key, 1, 2) === prefix) {
      keys[keys.length] = string.sub(key, prefix.length + 1);
    }
  }
  table.sort(keys);
  return keys;
}

function countEntries(kind: Kind): number {
  const [value] = data.get(`n:${kind}`);
  return (value as number | undefined) ?? 0;
}

function isReady(): boolean {
  const [value] = data.get("ready");
  return value !== undefined;
}

/** What a change touched, or undefined when the log no longer (or not yet) has it. */
function readChange(sequence: number): ChangeRecord | undefined {
  const [text] = data.get(`l:${sequence}`);
  if (text === undefined) {
    return undefined;
  }
  const [record] = decode(text as string);
  return record as ChangeRecord | undefined;
}

interface Undo {
  readonly dictionary: SharedDict;
  readonly key: string;
  readonly before: string | number | undefined;
}

interface Transaction {
  readonly undo: Undo[];
  readonly touched: LuaTable<string, string[]>;
  readonly delta: LuaTable<string, number>;
}

function write(
  tx: Transaction,
  dictionary: SharedDict,
  key: string,
  value: string | number | undefined,
): LuaMultiReturn<[boolean, string | undefined]> {
  const [before] = dictionary.get(key);
  if (before === value) {
    return $multi(false, undefined);
  }
  tx.undo[tx.undo.length] = { dictionary, key, before };
  if (value === undefined) {
    dictionary.delete(key);
    return $multi(true, undefined);
  }
  const [ok, problem] = dictionary.safe_set(key, value);
  return $multi(true, ok === true ? undefined : problem);
}

function rollBack(tx: Transaction): void {
  for (const i of $range(tx.undo.length - 1, 0, -1)) {
    const { dictionary, key, before } = tx.undo[i]!;
    // what did not fit may have left its place already
    dictionary.delete(key);
    if (before === undefined) {
      continue;
    }
    const [ok, problem] = dictionary.safe_set(key, before);
    if (ok !== true) {
      logError("could not restore an entry of a refused batch", `${key}: ${problem}`);
    }
  }
}

function writeKind(tx: Transaction, kind: Kind, entries: Entries): string | undefined {
  const touched = (tx.touched.get(kind) as string[] | undefined) ?? [];
  let added = 0;
  for (const key of entries.remove) {
    const [changed] = write(tx, dictionaryOf[kind], prefixOf[kind] + key, undefined);
    if (changed) {
      added -= 1;
      touched[touched.length] = key;
    }
  }
  for (const [key, text] of pairs(entries.upsert)) {
    const isNew = readText(kind, key) === undefined;
    const [changed, problem] = write(tx, dictionaryOf[kind], prefixOf[kind] + key, text);
    if (problem !== undefined) {
      return `${kind} ${key}: ${problem}`;
    }
    if (changed) {
      added += isNew ? 1 : 0;
      touched[touched.length] = key;
    }
  }
  tx.touched.set(kind, touched);
  const [, problem] = write(tx, data, `n:${kind}`, countEntries(kind) + added);
  return problem;
}

function encodeRecord(tx: Transaction, general: boolean): string {
  const touched = new LuaTable<string, string[]>();
  const all = new LuaTable<string, boolean>();
  for (const kind of kinds) {
    const keys = tx.touched.get(kind) as string[] | undefined;
    if (keys !== undefined && keys.length > keysPerRecord) {
      all.set(kind, true);
    } else if (keys !== undefined && keys.length > 0) {
      touched.set(kind, keys);
    }
  }
  const [text] = encode({ touched, all, general });
  return text!;
}

function isRemovedLast(kind: Kind): boolean {
  for (const one of removedLast) {
    if (one === kind) {
      return true;
    }
  }
  return false;
}

/** Other workers read meanwhile: nothing that is there names what is not. */
function writeEntries(tx: Transaction, batch: StoredBatch): string | undefined {
  for (const kind of kinds) {
    const entries = batch[kind];
    const now = entries !== undefined && isRemovedLast(kind) ? { upsert: entries.upsert, remove: [] } : entries;
    const problem = now === undefined ? undefined : writeKind(tx, kind, now);
    if (problem !== undefined) {
      return problem;
    }
  }
  for (const kind of removedLast) {
    const entries = batch[kind];
    const problem = entries === undefined ? undefined : writeKind(tx, kind, { upsert: new LuaTable(), remove: entries.remove });
    if (problem !== undefined) {
      return problem;
    }
  }
  return undefined;
}

function writeAll(tx: Transaction, batch: StoredBatch): string | undefined {
  const unwritten = writeEntries(tx, batch);
  if (unwritten !== undefined) {
    return unwritten;
  }
  if (batch.general !== undefined) {
    const [, problem] = write(tx, data, "general", batch.general);
    if (problem !== undefined) {
      return problem;
    }
  }
  if (batch.version !== undefined) {
    write(tx, data, "version", batch.version);
  }
  if (batch.backends !== undefined) {
    write(tx, data, "ready", 1);
  }
  const sequence = readSequence() + 1;
  write(tx, data, `l:${sequence - logLength}`, undefined);
  const [, problem] = write(tx, data, `l:${sequence}`, encodeRecord(tx, batch.general !== undefined));
  if (problem !== undefined) {
    return problem;
  }
  // last: whoever sees the new number finds everything in place
  const [, failed] = write(tx, data, "seq", sequence);
  return failed;
}

/** Stores the batch. An error text (out of memory, another writer) means that nothing has changed. */
function storeBatch(batch: StoredBatch): string | undefined {
  const [mine] = data.add("lock", ngx.worker.pid(), 30);
  if (!mine) {
    return "another batch is being stored";
  }
  const tx: Transaction = { undo: [], touched: new LuaTable(), delta: new LuaTable() };
  const [ok, problem] = pcall(writeAll, tx, batch);
  const failure = ok ? (problem as string | undefined) : tostring(problem);
  if (failure !== undefined) {
    rollBack(tx);
  }
  data.delete("lock");
  return failure;
}

/** Free bytes by dictionary name. */
function freeSpace(): Record<string, number> {
  const free: Record<string, number> = {};
  for (const [name, dictionary] of pairs(ngx.shared)) {
    free[name] = dictionary.free_space();
  }
  return free;
}

export { countEntries, freeSpace, isReady, listKeys, readChange, readEntry, readGeneral, readSequence, readText, readVersion, storeBatch };
