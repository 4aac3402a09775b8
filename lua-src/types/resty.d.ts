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
  export function verify_client(authorities: CertificateChain, depth: number): LuaMultiReturn<[boolean | undefined, string | undefined]>;
  export function cert_pem_to_der(pem: string): LuaMultiReturn<[string | undefined, string | undefined]>;
}

/** @noSelf */
declare module "ngx.ssl.clienthello" {
  export function get_client_hello_server_name(): LuaMultiReturn<[string | undefined, string | undefined]>;
}

/** @noSelf */
declare module "ngx.ocsp" {
  export function get_ocsp_responder_from_der_chain(chain: string): LuaMultiReturn<[string | undefined, string | undefined]>;
  export function create_ocsp_request(chain: string): LuaMultiReturn<[string | undefined, string | undefined]>;
  export function validate_ocsp_response(response: string, chain: string): LuaMultiReturn<[boolean | undefined, string | undefined]>;
  export function set_ocsp_status_resp(response: string): LuaMultiReturn<[boolean | undefined, string | undefined]>;
}

/** @noSelf */
declare module "resty.core.base" {
  /** ngx_http_request_t of the running handler. */
  export function get_request(): CData | undefined;
}

/** C data and pointers: opaque. */
interface CData {
  readonly cdata: never;
}

/** @noSelf */
declare module "ffi" {
  export interface Library extends OpenSsl {}
  /** The finaliser takes the object. */
  export function gc<T extends CData>(object: T, finaliser: (object: T) => void): T;
  export function string(pointer: CData, length: number): string;
  /** Of a 64-bit type: LuaJIT's operators calculate with it as with a number, in 64 bits. */
  export function cast(type: string, value: number): number;
  /** A C object of that type: an array when the type says so, then read by index. */
  function create(type: string): CArray;

  export { create as new };
}

/** Declared to the FFI in lua-src/tls/openssl.ts. @noSelf */
interface OpenSsl {
  ngx_http_lua_ffi_get_req_ssl_pointer(request: CData): CData | undefined;
  SSL_set_session_id_context(ssl: CData, context: string, length: number): number;
  SSL_get_session(ssl: CData): CData | undefined;
  SSL_session_reused(ssl: CData): number;
  SSL_SESSION_get0_id_context(session: CData, length: CArray): CData;
  SSL_set_cipher_list(ssl: CData, list: string): number;
  SSL_set_options(ssl: CData, options: number): number;
  SSL_clear_options(ssl: CData, options: number): number;
  SSL_ctrl(ssl: CData, command: number, larg: number, parg: CData): number;
  BIO_new_mem_buf(buffer: string, length: number): CData | undefined;
  BIO_free(bio: CData): number;
  PEM_read_bio_X509(bio: CData, x: undefined, callback: undefined, user: undefined): CData | undefined;
  PEM_read_bio_X509_CRL(bio: CData, x: undefined, callback: undefined, user: undefined): CData | undefined;
  X509_free(certificate: CData): void;
  X509_CRL_free(list: CData): void;
  X509_STORE_new(): CData;
  X509_STORE_free(store: CData): void;
  X509_STORE_add_cert(store: CData, certificate: CData): number;
  X509_STORE_add_crl(store: CData, list: CData): number;
  X509_STORE_set_flags(store: CData, flags: number): number;
  ERR_clear_error(): void;
}

interface CArray extends CData {
  [index: number]: number;
}

/** @noSelf */
declare module "ngx.resp" {
  /** Adds lines; what is there already stays. */
  export function add_header(name: string, value: string | readonly string[]): void;
}
