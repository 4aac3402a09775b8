/** What balancing and limits use beyond ngx.d.ts. */

/** @noSelf */
interface NgxApi {
  http_time(seconds: number): string;
  time(): number;
}

/** @noSelf */
declare module "ffi" {
  /** Counted from 0. */
  export type NumberArray = Omit<LuaTable<number, number>, "get"> & {
    readonly get: LuaTableGetMethod<number, number>;
  };
  /** @noSelf */
  export interface Library {
    kill(pid: number, signal: number): number;
  }
  function arrayType(type: string): (this: void, size: number) => NumberArray;
  function lastError(): number;

  export { arrayType as typeof, lastError as errno };
}
