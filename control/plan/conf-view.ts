/**
 * What nginx.conf is rendered from (control/apply/render.ts, nginx/*.mustache). Plain data: the plan fills it, nothing in
 * it is nginx syntax except `Snippet`. Whatever changes here changes nginx.conf, hence costs a reload.
 */

import type { MetricsSettings } from "../../lua-src/wire.ts";
import type { GlobalHeader } from "../model/conf-basis.ts";
import type { Argument, Directive } from "../model/model.ts";
import type { StreamServer } from "../model/stream.ts";

export type { Argument, Directive };

/** Text that an administrator or a permitted user wrote in nginx's own language; printed as it is. */
export interface Snippet {
  readonly snippet: string;
  /** The annotation that it comes from, where it does. */
  readonly from?: string;
}

/** Adds a request header towards the upstream, or replaces the built-in one of that name; "" removes it. */
export interface RequestHeader {
  readonly name: string;
  readonly value: Argument;
}

/** `map source $target { default …; key value; … }`. Keys starting with "~" are expressions, as nginx has it. */
export interface VariableMap {
  /** With its dollar sign, e.g. "$http_user_agent". */
  readonly source: string;
  /** Without the dollar sign. */
  readonly target: string;
  readonly entries: readonly { readonly key: Argument; readonly value: Argument }[];
}

/** Protocol spoken to the upstream. auto: http for plain requests, https for TLS ones. */
export type Family = "http" | "https" | "grpc" | "grpcs" | "fcgi" | "auto";

/** One location, entered through `RouteDocument.profile`. */
export interface Profile {
  /** [0-9a-z]{2,40}: the hash of all the rest; "h" is built in (default profile with response hooks). */
  readonly id: string;
  readonly family: Family;
  /** Printed in this order. proxy_set_header and grpc_set_header do not belong here: see requestHeaders. */
  readonly directives: readonly Directive[];
  /** On top of ConfView.requestHeaders; for fcgi all of them become HTTP_ parameters. */
  readonly requestHeaders?: readonly RequestHeader[];
  /** fcgi only: parameters on top of the usual ones. */
  readonly fastcgiParams?: readonly RequestHeader[];
  /**
   * Name ([0-9a-z]+) of a pool of upstream connections of its own. nginx keeps connections by address alone, so every
   * distinct set of TLS settings (proxy_ssl_*) must name its own pool. Profiles that share the name share the pool.
   */
  readonly pool?: string;
  /** Connections of the pool are not kept. */
  readonly keepalive?: false;
  readonly snippets?: readonly Snippet[];
  /** Keys of the server blocks and stream texts without which it must not be there. */
  readonly requires?: readonly string[];
}

/** A location reached by internal redirects and subrequests only (auth, mirror, error pages). */
export interface InternalLocation {
  /** "/~name" ([0-9a-z-]) for a path, "@name" for a named location. */
  readonly name: string;
  readonly family: Family;
  readonly directives: readonly Directive[];
  readonly requestHeaders?: readonly RequestHeader[];
  readonly pool?: string;
  /** Lua module whose run() is the location's rewrite_by_lua; it takes part in logging then. */
  readonly hook?: string;
  /** Full proxy_pass target with variables, instead of the Lua balancer. */
  readonly passTo?: Argument;
}

/** Hosts with a server block of their own, because they have text for it. */
export interface ServerBlock {
  /** As server_name takes them: names, "*.x", "~expression". */
  readonly names: readonly string[];
  readonly snippet: string;
}

export interface Listen {
  readonly port: number;
  /** Empty: all addresses. IPv6 ones in brackets. */
  readonly addresses: readonly string[];
  readonly ipv6: boolean;
  readonly reuseport: boolean;
  readonly proxyProtocol: boolean;
  readonly ssl: boolean;
  /** Also over UDP, for HTTP/3. */
  readonly quic?: boolean;
  /** Backlog, when not nginx's default. */
  readonly backlog?: number;
}

export interface ConfPaths {
  /** Mode 0700; the configuration socket lies here. */
  readonly runtimeDir: string;
  /** Compiled lua-src (dist/lua). */
  readonly luaDir: string;
  readonly luaLibraries?: string | undefined;
  /** Dynamic modules to load, full paths, in load order. */
  readonly modules: readonly string[];
  /** Loaded only for a stream part; absent: built in, or not there. */
  readonly streamModule?: string;
  /** njs for the stream part; loaded where servers need it. */
  readonly streamScriptModule?: string;
  /** Unix socket of /configuration. */
  readonly socket: string;
  /** See Layout. */
  readonly passthroughSocket: string;
  readonly pid: string;
  readonly errorLog: string;
  /** The five temp folders are made below it. */
  readonly tempDir: string;
  readonly defaultCertificate: string;
  readonly defaultKey: string;
  readonly mimeTypes?: string;
}

export interface AccessLog {
  /** A path, or "syslog:…"; absent: no access log at all. */
  readonly target?: string;
  /** log_format text; variables are meant. */
  readonly format: string;
  readonly escape: "default" | "json" | "none";
  /** e.g. ["buffer=16k"]. */
  readonly params: readonly string[];
  /** Keys over $request_uri that are not logged ("~" expressions allowed). */
  readonly skipUrls: readonly string[];
}

/** How scheme, host, port and client address of a request are found, and what the upstream is told of them. */
export interface Forwarded {
  readonly useForwardedHeaders: boolean;
  readonly useProxyProtocol: boolean;
  readonly enableRealIp: boolean;
  readonly computeFullForwardedFor: boolean;
  /** e.g. "X-Forwarded-For". */
  readonly forwardedForHeader: string;
  /** e.g. "X-Forwarded-Host"; only the source of X-Original-Forwarded-Host. */
  readonly forwardedHostHeader: string;
  /** set_real_ip_from. */
  readonly trusted: readonly string[];
  /**
   * PROXY lines and forwarded headers together, also where the lines are our own (--enable-ssl-passthrough): the client's
   * address is looked for in the forwarded-for header only where the peer, which the PROXY line names if there is one, is
   * trusted. realip reads it from a header, whose name no client may guess.
   */
  readonly chain?: { readonly secretHeader: string; readonly upstreamHeader?: string };
  readonly generateRequestId: boolean;
  readonly addOriginalUri: boolean;
}

/** A database and the variables that it fills, looked up by the client's address. */
export interface GeoDatabase {
  readonly path: string;
  /** Tells one version of the file from another; a new one means a new conf. */
  readonly stamp: string;
  /** Look for a newer file this often; 0 never. */
  readonly reloadMinutes: number;
  /** Name without "$" → where the value lies in a record, e.g. ["country", "iso_code"]. */
  readonly variables: Readonly<Record<string, readonly string[]>>;
}

export interface Upstreams {
  /** Idle connections kept per worker; 0 turns keep-alive off and sends "Connection: close". */
  readonly keepalive: number;
  readonly keepaliveRequests: number;
  /** nginx times, e.g. "60s", "1h". */
  readonly keepaliveTimeout: string;
  readonly keepaliveTime: string;
}

export interface Hsts {
  readonly maxAge: string;
  readonly includeSubdomains: boolean;
  readonly preload: boolean;
}

/** njs looks endpoints up: nginx/njs/endpoints.ts. */
export interface StreamScript {
  /** Of the compiled script. */
  readonly file: string;
  /** Folder of the files that it reads. */
  readonly folder: string;
  /** address:port of the loopback, UDP, where the script answers nginx's resolver. */
  readonly address: string;
}

export interface StreamView {
  readonly servers: readonly StreamServer[];
  /** Where servers have no endpoints of their own. */
  readonly script?: StreamScript;
  /** For all servers. */
  readonly directives: readonly Directive[];
  readonly logFormat: string;
  /** A path, or "syslog:…"; absent: no log. */
  readonly accessLog?: string;
  readonly logParams: readonly string[];
  /** Datagrams expected back for each one. */
  readonly responses: number;
  /** The https port is taken by ssl_preread: some hosts are passed on unopened, all else goes to proxyPort of http{}. */
  readonly passthrough?: {
    readonly httpsPort: number;
    readonly proxyPort: number;
    readonly socket: string;
    /** nginx time that a client's PROXY line may take. */
    readonly lineTimeout: string;
    /** Undefined: looked up for each connection. */
    readonly hosts: readonly { readonly host: string; readonly address: string; readonly port: number }[] | undefined;
  };
}

/** What this nginx can do; `control` finds out, the template obeys. */
export interface NginxFeatures {
  /** `http2 on;` (1.25.1 and later) instead of `listen … http2`. */
  readonly http2Directive: boolean;
  readonly headersMore: boolean;
  /** `listen … quic`. */
  readonly http3?: boolean;
  /** The stream module is built in or is paths.streamModule. */
  readonly stream: boolean;
}

export interface ConfView {
  readonly paths: ConfPaths;
  /** Only when the master runs as root. */
  readonly user?: string;
  readonly workerProcesses: number | "auto";
  readonly errorLogLevel: string;
  readonly features: NginxFeatures;
  readonly listens: readonly Listen[];
  readonly http2: boolean;
  /** The port named by redirects and replaced by 443 in X-Forwarded-Port; so is stream.passthrough.proxyPort. */
  readonly httpsPort: number;
  /** 127.0.0.1:statusPort; peers with this port on 127.* are refused. */
  readonly statusPort: number;
  /** Every path 404, on all addresses. */
  readonly defaultServerPort: number;
  readonly healthPath: string;
  /** lua_shared_dict name → bytes; wire.ts `dictionaries` names those that must be there. */
  readonly dictionaries: Readonly<Record<string, number>>;
  /** Bytes that a body of /configuration may have. */
  readonly configurationBodyLimit: number;
  readonly main: readonly Directive[];
  readonly events: readonly Directive[];
  /** Everything that ConfigMap keys map to; every nginx default that Sluice changes is here too, the template has none. */
  readonly http: readonly Directive[];
  /** Directives of the one server block (e.g. ssl_reject_handshake). */
  readonly server: readonly Directive[];
  readonly maps: readonly VariableMap[];
  readonly geo: readonly GeoDatabase[];
  readonly accessLog: AccessLog;
  readonly forwarded: Forwarded;
  readonly upstreams: Upstreams;
  /** Absent: no Strict-Transport-Security of our own. */
  readonly hsts?: Hsts;
  /** false: the Server header is removed from answers. */
  readonly serverTokens: boolean;
  /** The upstream's Server header is passed on (then it is not removed). */
  readonly allowBackendServerHeader: boolean;
  /** proxy-set-headers. */
  readonly requestHeaders: readonly RequestHeader[];
  /** add-headers: on every answer. */
  readonly responseHeaders: readonly GlobalHeader[];
  /** Besides the one block that serves all other hosts. */
  readonly servers: readonly ServerBlock[];
  readonly profiles: readonly Profile[];
  readonly internal: readonly InternalLocation[];
  /** Absent: no stream part. */
  readonly stream?: StreamView;
  /** Request metrics: a log hook on every location. Absent: none. */
  readonly metrics?: MetricsSettings;
  /** Administrator's text from the ConfigMap. */
  readonly snippets: {
    readonly main: readonly Snippet[];
    readonly http: readonly Snippet[];
    readonly server: readonly Snippet[];
    readonly location: readonly Snippet[];
    /** Without any, and without streams, there is no stream block. */
    readonly stream: readonly Snippet[];
  };
}

/** nginx.conf and its hash (16 hex digits, the same as StateDocument.conf of workers that run it). */
export interface RenderedConf {
  readonly text: string;
  readonly hash: string;
}
