/** What access control and authentication use of ngx_lua, lua-resty-core and LuaJIT's ffi. */

/** @noSelf */
interface NgxApi {
  escape_uri(text: string): string;
  encode_base64(bytes: string): string;
  decode_base64(text: string): string | undefined;
  sha1_bin(text: string): string;
  md5_bin(text: string): string;
  hmac_sha1(key: string, text: string): string;
  time(): number;
  update_time(): void;
  sleep(seconds: number): void;
  readonly thread: NgxThreadApi;
  parse_http_time(text: string): number | undefined;
}

/** @noSelf */
interface NgxThreadApi {
  spawn(body: () => void): object;
  wait(thread: object): LuaMultiReturn<[boolean, unknown]>;
}

/** @noSelf */
interface NgxRequestApi {
  /** All of them for max 0; names as sent when raw. */
  get_headers(max: number, raw: boolean): LuaTable<string, string | readonly string[]>;
}

interface TcpSocket {
  connect(
    host: string,
    port: number,
    options: { readonly pool: string; readonly pool_size: number },
  ): LuaMultiReturn<[number | undefined, string | undefined]>;
  sslhandshake(session: false, name: string | undefined, verify: boolean): LuaMultiReturn<[boolean | undefined, string | undefined]>;
  setkeepalive(milliseconds: number, size: number): LuaMultiReturn<[number | undefined, string | undefined]>;
  getreusedtimes(): LuaMultiReturn<[number | undefined, string | undefined]>;
}

interface SharedDict {
  set(key: string, value: string | number, seconds?: number): LuaMultiReturn<[boolean, string | undefined, boolean]>;
}

/** @noSelf */
declare module "ngx.resp" {
  export function add_header(name: string, value: string | readonly string[]): void;
}

/** @noSelf */
declare module "ffi" {
  /** @noSelf */
  export interface Library {
    calloc(count: number, size: number): Memory;
    /** crypt(3) with its own memory; nil where it cannot. */
    crypt_r(phrase: string, setting: string, memory: Memory): Memory | undefined;
  }
  export interface Memory {
    readonly memory: never;
  }
  export const C: Library;
  export function cdef(text: string): void;
  export function load(name: string): Library;
  export function string(memory: Memory): string;
}
