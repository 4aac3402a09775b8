/**
 * Bounded map in two generations: when the young one is full it becomes the old one. Reading from the old one moves the
 * entry, so what is in use stays. No list to maintain, no cost per read.
 */
export class Cache<V extends object> {
  young = new LuaTable<string, V>();
  private old = new LuaTable<string, V>();
  private count = 0;
  private readonly limit: number;

  /** Holds between limit and 2 × limit entries. */
  constructor(limit: number) {
    this.limit = limit;
  }

  get(key: string): V | undefined {
    let value: V | undefined = this.young.get(key);
    if (value === undefined) {
      value = this.old.get(key);
      if (value !== undefined) {
        this.set(key, value);
      }
    }
    return value;
  }

  set(key: string, value: V): void {
    if (this.count >= this.limit) {
      this.old = this.young;
      this.young = new LuaTable();
      this.count = 0;
    }
    this.count += 1;
    this.young.set(key, value);
  }

  drop(key: string): void {
    this.young.delete(key);
    this.old.delete(key);
  }

  clear(): void {
    this.young = new LuaTable();
    this.old = new LuaTable();
    this.count = 0;
  }
}
