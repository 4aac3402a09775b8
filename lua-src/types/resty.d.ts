/** Lua modules beside ngx: their functions take no self. */

/** @noSelf */
declare module "cjson.safe" {
  export function decode(text: string): LuaMultiReturn<[unknown, string | undefined]>;
  export function encode(value: unknown): LuaMultiReturn<[string | undefined, string | undefined]>;
}

/** @noSelf */
declare module "ngx.balancer" {
  export function set_current_peer(address: string, port: number): LuaMultiReturn<[boolean | undefined, string | undefined]>;
  export function set_more_tries(count: number): LuaMultiReturn<[boolean | undefined, string | undefined]>;
  export function set_timeouts(
    connect: number | undefined,
    send: number | undefined,
    read: number | undefined,
  ): LuaMultiReturn<[boolean | undefined, string | undefined]>;
  export function get_last_failure(): LuaMultiReturn<[string | undefined, number | undefined]>;
}

/** @noSelf */
declare module "ngx.ssl" {
  export interface CertificateChain {
    readonly chain: never;
  }
  export interface PrivateKey {
    readonly key: never;
  }
  export function server_name(): LuaMultiReturn<[string | undefined, string | undefined]>;
  export function clear_certs(): LuaMultiReturn<[boolean | undefined, string | undefined]>;
  export function parse_pem_cert(pem: string): LuaMultiReturn<[CertificateChain | undefined, string | undefined]>;
  export function parse_pem_priv_key(pem: string): LuaMultiReturn<[PrivateKey | undefined, string | undefined]>;
  export function set_cert(chain: CertificateChain): LuaMultiReturn<[boolean | undefined, string | undefined]>;
  export function set_priv_key(key: PrivateKey): LuaMultiReturn<[boolean | undefined, string | undefined]>;
}

/** @noSelf */
declare module "ngx.resp" {
  /** Adds lines; what is there already stays. */
  export function add_header(name: string, value: string | readonly string[]): void;
}
