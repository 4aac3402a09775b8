/** What Sluice uses of ngx_lua. Functions take no self; shared dictionaries and sockets are objects with methods. */
declare const ngx: NgxApi;

/** @noSelf */
interface NgxApi {
  readonly OK: number;
  readonly ERROR: number;
  readonly ERR: number;
  readonly HTTP_GET: number;
  readonly WARN: number;
  readonly NOTICE: number;
  readonly INFO: number;
  readonly CRIT: number;
  status: number;
  /** Per request; assigning it makes the table the request's. */
  ctx: object;
  readonly is_subrequest: boolean;
  readonly var: LuaTable<string, string | undefined>;
  readonly header: LuaTable<string, string | undefined>;
  readonly shared: LuaTable<string, SharedDict>;
  readonly req: NgxRequestApi;
  readonly re: NgxRegexApi;
  readonly worker: NgxWorkerApi;
  readonly timer: NgxTimerApi;
  readonly socket: NgxSocketApi;
  log(level: number, ...parts: unknown[]): void;
  print(text: string | readonly string[]): void;
  exit(status: number): void;
  /** Internal redirect; does not return. */
  exec(uri: string, args?: string): void;
  redirect(location: string, status: number): void;
  now(): number;
  sleep(seconds: number): void;
  crc32_long(text: string): number;
  md5(text: string): string;
  unescape_uri(text: string): string;
  escape_uri(text: string): string;
  sha1_bin(text: string): string;
  encode_base64(text: string): string;
  time(): number;
  parse_http_time(text: string): number | undefined;
}

/** @noSelf */
interface NgxRequestApi {
  is_internal(): boolean;
  set_uri(uri: string, jump: boolean, binary?: boolean): void;
  set_header(name: string, value: string): void;
  clear_header(name: string): void;
  get_headers(max: number, raw: boolean): LuaTable<string, string | readonly string[]>;
  get_method(): string;
  /** Seconds since 1970. */
  start_time(): number;
  set_uri_args(args: string): void;
  set_method(method: number): void;
  read_body(): void;
  get_body_data(): string | undefined;
  get_body_file(): string | undefined;
  get_uri_args(max: number): LuaTable<string, string | true | readonly (string | true)[]>;
}

/** @noSelf */
interface NgxRegexApi {
  match(
    subject: string,
    regex: string,
    options: string,
  ): LuaMultiReturn<[LuaTable<number, string | false> | undefined, string | undefined]>;
  find(subject: string, regex: string, options: string): LuaMultiReturn<[number | undefined, number | undefined, string | undefined]>;
}

/** @noSelf */
interface NgxWorkerApi {
  pid(): number;
  id(): number | undefined;
}

/** @noSelf */
interface NgxTimerApi {
  at<A extends unknown[]>(
    delay: number,
    callback: (premature: boolean, ...args: A) => void,
    ...args: A
  ): LuaMultiReturn<[boolean | undefined, string | undefined]>;
  every(seconds: number, callback: (premature: boolean) => void): LuaMultiReturn<[boolean | undefined, string | undefined]>;
}

/** @noSelf */
interface NgxSocketApi {
  tcp(): TcpSocket;
}

interface TcpSocket {
  settimeouts(connect: number, send: number, read: number): void;
  connect(host: string, port?: number): LuaMultiReturn<[number | undefined, string | undefined]>;
  connect(
    host: string,
    port: number,
    options: { readonly pool: string; readonly pool_size: number },
  ): LuaMultiReturn<[number | undefined, string | undefined]>;
  sslhandshake(reuse: false, serverName: string | undefined, verify: boolean): LuaMultiReturn<[boolean | undefined, string | undefined]>;
  send(data: string): LuaMultiReturn<[number | undefined, string | undefined]>;
  receive(pattern: string | number): LuaMultiReturn<[string | undefined, string | undefined]>;
  /** What has come, 1 to max bytes. */
  receiveany(max: number): LuaMultiReturn<[string | undefined, string | undefined]>;
  getreusedtimes(): LuaMultiReturn<[number | undefined, string | undefined]>;
  setkeepalive(milliseconds: number, size: number): LuaMultiReturn<[number | undefined, string | undefined]>;
  close(): void;
}

interface SharedDict {
  get(key: string): LuaMultiReturn<[value: string | number | undefined, flags: number | undefined]>;
  set(key: string, value: string | number, seconds?: number, flags?: number): LuaMultiReturn<[boolean, string | undefined, boolean]>;
  safe_set(key: string, value: string | number): LuaMultiReturn<[boolean | undefined, string | undefined]>;
  add(key: string, value: string | number, seconds?: number): LuaMultiReturn<[boolean, string | undefined, boolean]>;
  incr(key: string, by: number, init?: number): LuaMultiReturn<[number | undefined, string | undefined, boolean | undefined]>;
  delete(key: string): void;
  get_keys(max: number): string[];
  free_space(): number;
  lpush(key: string, value: string): LuaMultiReturn<[number | undefined, string | undefined]>;
  rpop(key: string): LuaMultiReturn<[string | undefined, string | undefined]>;
}
