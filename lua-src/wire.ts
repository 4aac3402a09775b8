/**
 * The contract between control/ and lua-src/: every JSON document that crosses /configuration, the paths and the
 * names of the shared dictionaries. Types and constants only, no API of either side. No document holds null:
 * what is absent is left out.
 */

/** Where the data plane answers (HTTP over the unix socket of the runtime directory, mode 0600). */
export const paths = {
  /** PATCH: a Batch → 200 BatchAnswer; 400 malformed, nothing stored; 409 version is not newer; 507 out of shared memory, nothing stored. */
  configuration: "/configuration",
  /** GET: BackendDocument[] sorted by name; POST: replaces all (201, empty). */
  backends: "/configuration/backends",
  /** GET: HostDocument[] sorted by name; POST: replaces all (201). */
  routes: "/configuration/routes",
  /** GET: {"servers": {host: uid}, "users": [keys], "networks": [keys]} (no key material, no hashes); POST: ServersDocument, replaces all (201). */
  servers: "/configuration/servers",
  /** GET ?hostname=H: PEM chain and key of the exact host H; 400 without hostname; 404 when there is none. */
  certs: "/configuration/certs",
  /** GET and POST: GeneralDocument (201). */
  general: "/configuration/general",
  /** GET: StateDocument. */
  state: "/configuration/state",
  /** GET ?host=H&uri=U&raw=R&scheme=S&header.NAME=V…: MatchDocument, by the very router that serves traffic. */
  match: "/configuration/match",
  /** POST: string[] of regular expressions → 200 ExpressionsAnswer: would PCRE take them? Nothing is stored. */
  expressions: "/configuration/expressions",
  /** GET: 200 "OK\n" when backends have been stored, else 500. */
  ready: "/is-dynamic-lb-initialized",
} as const;

/** lua_shared_dict names (those of the retired controller where it has the same content) with their default sizes in bytes. */
export const dictionaries = {
  configuration_data: 20 * 1024 * 1024,
  certificate_data: 20 * 1024 * 1024,
  certificate_servers: 5 * 1024 * 1024,
  balancer_ewma: 10 * 1024 * 1024,
  balancer_ewma_last_touched_at: 10 * 1024 * 1024,
  balancer_ewma_locks: 1024 * 1024,
  ocsp_response_cache: 5 * 1024 * 1024,
  /** Answers of external authentication. */
  auth_cache: 10 * 1024 * 1024,
  /** Nonces that were used; apart, so that no flood of cached answers makes it forget them. */
  digest_nonces: 5 * 1024 * 1024,
  /** Buckets and counts of limit-rps, limit-rpm and limit-connections. */
  rate_limits: 10 * 1024 * 1024,
  /** What workers on their way out have counted: some 15,000 sets of labels. */
  metrics_left: 8 * 1024 * 1024,
  /** Spans of their last requests: some 8,000. */
  spans_left: 4 * 1024 * 1024,
} as const;

/**
 * Histograms of requests, in the order in which their counters lie in a MetricsLine: for each that is not skipped the
 * requests of every bucket (not cumulative), those beyond the last, and the sum.
 */
export const requestHistograms = [
  { name: "request_duration_seconds", buckets: "time" },
  { name: "connect_duration_seconds", buckets: "time" },
  { name: "header_duration_seconds", buckets: "time" },
  { name: "response_duration_seconds", buckets: "time" },
  { name: "request_size", buckets: "length" },
  { name: "response_size", buckets: "length" },
  { name: "bytes_sent", buckets: "size" },
] as const;

/** What the workers count, handed to them in nginx.conf. */
export interface MetricsSettings {
  /** Counted by host; then only hosts that an Ingress names, unless undefinedHosts is set. */
  readonly perHost: boolean;
  readonly undefinedHosts: boolean;
  /** Upper bounds, ascending: seconds, bytes, bytes. */
  readonly time: readonly number[];
  readonly length: readonly number[];
  readonly size: readonly number[];
  /** Names of `requestHistograms` that are not counted. */
  readonly skip: readonly string[];
  readonly socket: string;
}

/** Labels, then counters as index and increment by turns; index 0 is the number of requests, the histograms follow. */
export type MetricsLine = readonly [
  host: string,
  namespace: string,
  ingress: string,
  service: string,
  path: string,
  canary: string,
  method: string,
  status: number,
  counters: readonly number[],
];

/** A line that begins so ends a delivery of MetricsLines; the rest is the delivery's name, the same when it is sent again. */
export const endOfDelivery = "end ";

/** Names that templates, routes and logs share. */
export const names = {
  catchAllHost: "",
  defaultBackend: "upstream-default-backend",
  /** Key of the default certificate in ServersDocument.servers. */
  defaultCertificate: "_",
} as const;

export interface EndpointDocument {
  readonly address: string;
  /** A decimal number as text, as in the retired controller. */
  readonly port: string;
}

export interface CookieAffinityDocument {
  readonly name: string;
  readonly expires?: string;
  readonly maxage?: string;
  readonly locations?: Readonly<Record<string, readonly string[]>>;
  readonly secure?: boolean;
  readonly path?: string;
  readonly domain?: string;
  readonly samesite?: string;
  readonly conditional_samesite_none?: boolean;
  readonly change_on_failure?: boolean;
}

export interface TrafficShapingDocument {
  readonly weight: number;
  readonly weightTotal: number;
  readonly header: string;
  readonly headerValue: string;
  readonly headerPattern: string;
  readonly cookie: string;
  /** Clients that send this are kept on one side by a hash of its value, and counted in no share. */
  readonly sticky?: { readonly kind: "cookie" | "header"; readonly name: string };
}

/** One upstream. Field names follow the retired controller's /configuration/backends. */
export interface BackendDocument {
  /** `<namespace>-<service>-<port>` or `upstream-default-backend`. */
  readonly name: string;
  readonly service?: { readonly spec: { readonly type?: string; readonly clusterIP?: string } };
  readonly port: number | string;
  readonly sslPassthrough: boolean;
  readonly endpoints?: readonly EndpointDocument[];
  readonly sessionAffinityConfig: { readonly name: string; readonly mode: string; readonly cookieSessionAffinity: CookieAffinityDocument };
  readonly upstreamHashByConfig: {
    readonly "upstream-hash-by"?: string;
    readonly "upstream-hash-by-subset"?: boolean;
    readonly "upstream-hash-by-subset-size"?: number;
  };
  readonly "load-balance"?: string;
  readonly noServer: boolean;
  readonly trafficShapingPolicy: TrafficShapingDocument;
  readonly alternativeBackends?: readonly string[];
  /** Requests in progress at a time, over all workers; more are answered 503. */
  readonly maxInFlight?: number;
  /** Seconds in which a new endpoint comes up to its full share. */
  readonly slowStart?: number;
  /** True: answered by the data plane itself with 404 (no --default-backend-service). */
  readonly builtIn404?: boolean;
}

/** One host: what the router needs, each list in match order. */
export interface HostDocument {
  /** Lower case; "" is the catch-all; "*.x" matches exactly one label of letters, digits, _ and -. */
  readonly name: string;
  /** This name is served exactly as that host (server-alias). routes is empty then. */
  readonly aliasOf?: string;
  /** Every request to this name is redirected to that host (from-to-www-redirect). */
  readonly redirectTo?: { readonly host: string; readonly code: number };
  /** A path: GET / (exactly "/") is answered 302 to scheme://http_host + this. */
  readonly appRoot?: string;
  /** Every request to this host is answered with this status (e.g. auth-tls that cannot be honoured: 403). */
  readonly deny?: number;
  /** What its handshakes have of their own. */
  readonly tls?: HostTlsDocument;
  readonly routes: readonly RouteDocument[];
}

/** TLS of a host by SNI. Sessions of such a host resume under the same document only. */
export interface HostTlsDocument {
  /** OpenSSL cipher list, for TLS 1.2 and older. */
  readonly ciphers?: string;
  /** Absent: as for the whole server. */
  readonly preferServerCiphers?: boolean;
  readonly clientAuth?: ClientAuthDocument;
}

/** Certificates of clients: asked for in the handshake, judged again at each request. */
export interface ClientAuthDocument {
  /** Key in Batch.certificates: PEM of the authorities, then of their revocation lists. */
  readonly authority: string;
  readonly verify: "on" | "off" | "optional" | "optional_no_ca";
  /** Intermediate certificates allowed. */
  readonly depth: number;
  /** Where requests without a good certificate go: a URL (302), or a path of this host. Absent: 400. */
  readonly errorPage?: string;
  /** PCRE for the whole common name of the subject; else 403. */
  readonly commonName?: string;
}

/**
 * One location.
 * - exact: the decoded, normalised URI equals path.
 * - prefix: path ends in "/", the URI starts with it; the longest one wins; after exact.
 * - regex: host-wide regex mode: ^path, case-insensitive, the first in the list wins; exact and prefix do not occur then.
 * - iprefix: as regex, for a path without a metacharacter (plain case-insensitive start).
 */
export interface RouteDocument {
  readonly kind: "exact" | "prefix" | "regex" | "iprefix";
  readonly path: string;
  /** Absent: the default profile. */
  readonly profile?: string;
  /** Absent only with `fixed`. */
  readonly backend?: string;
  /** Answer without a backend: a status, or the 301 of "/foo" to "/foo/". */
  readonly fixed?: { readonly status: number } | { readonly slash: string };
  readonly source: SourceDocument;
  readonly features: FeatureDocuments;
}

/** What logs, metrics and dbg say of a route. */
export interface SourceDocument {
  readonly namespace: string;
  readonly ingress: string;
  readonly service: string;
  readonly port: string;
  /** The path as written in the Ingress. */
  readonly path: string;
}

/** Per-route settings by feature; each is read by lua-src/features/NAME.ts. A route without the key does not pay for it. */
export interface FeatureDocuments {
  readonly rewrite?: RewriteDocument;
  readonly sslRedirect?: SslRedirectDocument;
  readonly timeouts?: TimeoutsDocument;
  readonly retries?: RetriesDocument;
  readonly upstreamVhost?: UpstreamVhostDocument;
  readonly cors?: CorsDocument;
  readonly redirect?: RedirectDocument;
  readonly customHeaders?: CustomHeadersDocument;
  readonly answerRewrite?: AnswerRewriteDocument;
  readonly connectionHeader?: ConnectionHeaderDocument;
  readonly redirectStyle?: RedirectStyleDocument;
  readonly accessLog?: AccessLogDocument;
  readonly ipAccess?: IpAccessDocument;
  readonly authBasic?: AuthBasicDocument;
  /** Any one of address list, credentials and external authentication suffices; absent: all are needed. */
  readonly satisfy?: { readonly any: true };
  readonly clientCertificate?: ClientCertificateDocument;
  readonly customErrors?: CustomErrorsDocument;
  readonly mirror?: MirrorDocument;
  readonly authExternal?: AuthExternalDocument;
  readonly rateLimit?: RateLimitDocument;
  readonly limitRate?: LimitRateDocument;
  readonly inFlight?: InFlightDocument;
  readonly measure?: MeasureDocument;
  readonly session?: SessionDocument;
  readonly trace?: TraceDocument;
}

/** Each request gets a span, of which its backend is told by W3C headers (traceparent). */
export interface TraceDocument {
  /** Of the span; absent: the route's path. */
  readonly name?: string;
  /** The client's own trace is not continued. */
  readonly distrust?: true;
}

/** Which traces are recorded, and where their spans go; absent: all that no trusted client decides otherwise of, nowhere. */
export interface TracingDocument {
  /** Share of the traces that begin here, 0 to 1. */
  readonly ratio: number;
  /** What a trusted client decided holds for its traces. */
  readonly parentBased: boolean;
  readonly export?: SpanExportDocument;
}

/**
 * The controller takes spans on a unix socket: a line with their number, their length in bytes and the delivery's name, the
 * same when it is sent again; then the spans, each as field 2 of OTLP's ScopeSpans. It answers "ok", or another line when it
 * has no room.
 */
export interface SpanExportDocument {
  readonly socket: string;
  /** Spans in one delivery. */
  readonly batch: number;
  /** Spans that a worker keeps; more are lost. */
  readonly queue: number;
  /** Milliseconds from a span to its delivery, at most. */
  readonly delay: number;
}

/** On every route of a host with ClientAuthDocument: the upstream is told of the client's certificate. */
export interface ClientCertificateDocument {
  /** The certificate itself goes along, URL-escaped PEM. */
  readonly pass?: boolean;
  /** Plain http is refused with 403: it carries no certificate. */
  readonly required?: boolean;
}

/** The URI is replaced by target where `from` (PCRE, case-insensitive, unanchored) matches; $1…$9 are its groups. */
export interface RewriteDocument {
  readonly from: string;
  readonly target: string;
  /** X-Forwarded-Prefix for the upstream; may hold $1…$9. */
  readonly forwardedPrefix?: string;
}

/** Plain http is answered with a redirect to https (the scheme of GeneralDocument.useForwardedHeaders rules). */
export interface SslRedirectDocument {
  readonly code: number;
  /** Also where no certificate is mapped to the name that was asked for. */
  readonly force?: boolean;
  readonly preserveTrailingSlash?: boolean;
  /** Put into the Location as :port. */
  readonly port?: number;
}

/** Milliseconds; only those that differ from what nginx.conf says for all. */
export interface TimeoutsDocument {
  readonly connect?: number;
  readonly send?: number;
  readonly read?: number;
}

/** tries counts the first one; 0 is unlimited. */
export interface RetriesDocument {
  readonly tries: number;
  /** As GeneralDocument.retriesRefused. */
  readonly refused?: boolean;
}

/** Host header for the upstream; may hold nginx variables ($name, ${name}). */
export interface UpstreamVhostDocument {
  readonly host: string;
}

/** A copy of each request goes to `target`; both may hold nginx variables. */
export interface MirrorDocument {
  readonly target: string;
  /** Host header of the copy. */
  readonly host: string;
}

/** Who answers errors of this location, and requests when its own backend has no endpoints. */
export interface CustomErrorsDocument {
  /** Absent: the global default backend answers errors, and nobody stands in for an empty backend. */
  readonly backend?: string;
  /** The profile has error pages. */
  readonly pages?: boolean;
}

/** Cross-origin requests. Preflights are answered 204; what the backend says of CORS is replaced. */
export interface CorsDocument {
  /** Lower case: "*" (any), "null", "scheme://host[:port]", where host may begin with "*." for one label. Empty: nobody. */
  readonly origins: readonly string[];
  readonly methods: string;
  readonly headers: string;
  readonly credentials: boolean;
  readonly expose?: string;
  readonly maxAge: number;
}

/** Every request is answered with the code (300 to 308); `to` may hold nginx variables. */
export interface RedirectDocument {
  readonly code: number;
  readonly to: string;
}

/** How a redirect to a bare path is completed; absent fields: as for the whole server. Also for `fixed` routes. */
export interface RedirectStyleDocument {
  /** It stays a path. */
  readonly relative?: boolean;
  /** It names the port it came in on, unless that is the scheme's own. */
  readonly port?: boolean;
}

/** Connection header for the upstream, in place of what the client's Upgrade asks for. */
export interface ConnectionHeaderDocument {
  readonly value: string;
}

/** Set on every answer, in place of what the backend sent. */
export interface CustomHeadersDocument {
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}

/** Texts for the proxy_redirect, proxy_cookie_domain and proxy_cookie_path of the route's profile. */
export interface AnswerRewriteDocument {
  readonly redirect?: ReplacementDocument;
  readonly cookieDomain?: ReplacementDocument;
  readonly cookiePath?: ReplacementDocument;
}

export interface ReplacementDocument {
  readonly from: string;
  readonly to: string;
}

/** Counted over all routes with the same zone, by key; an empty key is not limited. */
export interface RateLimitDocument {
  /** The Ingress's uid: one that is made anew begins with nothing counted. */
  readonly zone: string;
  /** May hold nginx variables. */
  readonly key: string;
  /** Clients of these networks are not limited. */
  readonly allow?: Addresses;
  /** Thousandths of requests; rate is per second. All must let a request pass. */
  readonly requests?: readonly { readonly name: "rps" | "rpm"; readonly rate: number; readonly burst: number }[];
  /** Requests in progress at a time. */
  readonly connections?: number;
  readonly requestStatus: number;
  readonly connectionStatus: number;
}

/** Bytes per second of each answer. */
export interface LimitRateDocument {
  readonly bytes: number;
}

/** The backend, or a canary of it, has maxInFlight. */
export interface InFlightDocument {
  readonly limited: true;
}

/** The algorithm of the backend, or of a canary of it, needs to see requests end. */
export interface MeasureDocument {
  readonly end: true;
}

/** Clients without a session cookie get one here (the backend's sessionAffinityConfig says which). */
export interface SessionDocument {
  readonly issue: true;
}

export interface AccessLogDocument {
  readonly off: true;
}

/** Addresses and networks (CIDR); of a long list its key in Batch.networks. */
export type Addresses = readonly string[] | string;

/** Networks (CIDR). A list that is absent is that of GeneralDocument.access. Deny counts before allow. */
export interface IpAccessDocument {
  readonly allow?: Addresses;
  readonly deny?: Addresses;
}

/** Basic or digest authentication. */
export interface AuthBasicDocument {
  /** Key of Batch.users. */
  readonly users: string;
  readonly realm: string;
  readonly digest?: boolean;
}

/** Another service is asked before the request goes on. Texts marked V may hold nginx variables ($name, ${name}). */
export interface AuthExternalDocument {
  /** http or https; V, though not in scheme and port. */
  readonly url: string;
  /** Absent: GET. When set, X-Original-URI and X-Scheme are sent too. */
  readonly method?: string;
  /** V: a 401 becomes a 302 to this. */
  readonly signin?: string;
  /** "?rd=" or "&rd=": the client's URL follows it at the end of signin. */
  readonly signinParameter?: string;
  /** Headers of the answer that the upstream gets; those that it lacks are removed from the request. */
  readonly responseHeaders?: readonly string[];
  /** Headers for the service, V. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
  /** V: X-Auth-Request-Redirect; absent: the request URI. */
  readonly requestRedirect?: string;
  /** Set-Cookie of the answer goes to the client whatever the status. */
  readonly alwaysSetCookie?: boolean;
  readonly cache?: AuthCacheDocument;
  readonly keepalive?: KeepaliveDocument;
  readonly timeouts?: TimeoutsDocument;
  /** Tried in turn before the service is asked; the first that holds is the answer. */
  readonly decisions?: readonly AuthDecisionDocument[];
}

export interface AuthDecisionDocument {
  readonly status: number;
  /** Absent: always. As nginx's `if` has it; "set" is its `if ($variable)`. */
  readonly when?: {
    /** Without its dollar sign. */
    readonly variable: string;
    readonly op: "set" | "=" | "!=" | "~" | "~*" | "!~" | "!~*";
    /** V for = and !=, else an expression. */
    readonly value: string;
  };
}

export interface AuthCacheDocument {
  /** V */
  readonly key: string;
  /** Differs for routes and settings whose answers must not be mixed up. */
  readonly scope: string;
  /** Seconds by status, where the answer does not say itself; code 0 stands for any. */
  readonly valid?: readonly { readonly codes: readonly number[]; readonly seconds: number }[];
}

export interface KeepaliveDocument {
  /** Idle connections per worker. */
  readonly connections: number;
  /** Requests on one connection. */
  readonly requests: number;
  /** Milliseconds idle. */
  readonly timeout: number;
}

export interface ServersDocument {
  /** uid → PEM chain followed by PEM key. */
  readonly certificates: Readonly<Record<string, string>>;
  /** host (or "_") → uid; "-1" deletes. */
  readonly servers: Readonly<Record<string, string>>;
}

/** What holds for all routes and may change without a reload. */
export interface GeneralDocument {
  readonly useForwardedHeaders: boolean;
  readonly useProxyProtocol: boolean;
  /** OCSP answers are stapled. */
  readonly ocsp?: boolean;
  /** Code of redirects to https and to www. */
  readonly httpRedirectCode: number;
  readonly httpsPort: number;
  /** Answered 200 by the catch-all host. */
  readonly healthPath: string;
  /** As RetriesDocument.tries. */
  readonly tries: number;
  /** A refused connection leads to another try; absent: it does. Else all endpoints take their turns, failing or not. */
  readonly retriesRefused?: boolean;
  /** Variables to fill from the route's source, because the log format names them: namespace, ingress_name, service_name, service_port, location_path. */
  readonly logVariables: readonly string[];
  /** Who may read /nginx_status on the catch-all host. */
  readonly statusAllow: readonly string[];
  /** TLS handshakes with a name that no host has are refused. */
  readonly rejectHandshake?: true;
  /** Names that are no plain host: server-alias with "*.x" at any depth and "~regex", in order. */
  readonly hostPatterns: readonly { readonly pattern: string; readonly host: string }[];
  readonly access?: AccessDocument;
  /** Who may name a client, where PROXY lines and forwarded headers come together. */
  readonly proxies?: readonly string[];
  readonly tracing?: TracingDocument;
}

/** Lists that hold for all hosts; those that are empty are left out. Patterns as in nginx's map: plain, "~regex", "~*regex". */
export interface AccessDocument {
  /** For routes whose IpAccessDocument has no list of its own. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** For routes without an IpAccessDocument, and unknown hosts. */
  readonly blockCidrs?: readonly string[];
  readonly blockUserAgents?: readonly string[];
  readonly blockReferers?: readonly string[];
}

/** What changed, sent with PATCH; kinds and keys not named stay as they are. Applied whole or not at all. */
export interface Batch {
  /** Greater than the last one applied (StateDocument.version); the sender counts on after a restart by reading the state first. */
  readonly version: number;
  readonly hosts?: Changes<HostDocument>;
  readonly backends?: Changes<BackendDocument>;
  /** By uid: PEM chain followed by PEM key. By ClientAuthDocument.authority: PEM without a key. */
  readonly certificates?: Changes<string>;
  /** By host name or "_": uid. */
  readonly servers?: Changes<string>;
  /** By AuthBasicDocument.users: lines user:hash, or user:realm:digest. Never shown again. */
  readonly users?: Changes<string>;
  /** By an id of their content: lists of addresses and networks, joined by commas. */
  readonly networks?: Changes<string>;
  readonly general?: GeneralDocument;
}

export interface Changes<T> {
  readonly upsert?: Readonly<Record<string, T>>;
  readonly remove?: readonly string[];
}

export interface BatchAnswer {
  readonly version: number;
  /** What was stored but cannot be served, e.g. a path that PCRE refuses. */
  readonly problems?: readonly { readonly host: string; readonly path: string; readonly text: string }[];
}

export interface ExpressionsAnswer {
  /** PCRE's words by expression. */
  readonly refused: Readonly<Record<string, string>>;
}

export interface StateDocument {
  /** 0: empty, nothing was ever applied (nginx came up anew). */
  readonly version: number;
  /** Hash of the nginx.conf that this worker runs. */
  readonly conf: string;
  readonly pid: number;
  readonly counts: { readonly hosts: number; readonly backends: number; readonly certificates: number; readonly servers: number };
  /** Free bytes by dictionary name. */
  readonly free: Readonly<Record<string, number>>;
}

/** Why a URL is answered by what. */
export interface MatchDocument {
  /** The host document that matched ("" the catch-all); absent when there is none. */
  readonly host?: string;
  readonly aliasOf?: string;
  readonly how: "exact" | "wildcard" | "alias" | "pattern" | "catch-all" | "none";
  readonly route?: RouteDocument;
  /** Backend chosen for this request, canary rules applied. */
  readonly backend?: string;
  /** It, where that is a canary. */
  readonly canary?: string;
  /** Canaries that get a share of such requests: any of them may serve this one instead. */
  readonly sharing?: readonly string[];
  readonly endpoints?: readonly EndpointDocument[];
  /** The answer that would be given without a backend, e.g. 308, 503, 404. */
  readonly status?: number;
  readonly location?: string;
  readonly reasons: readonly string[];
}
