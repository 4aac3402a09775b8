/** ConfView → the names that nginx/*.mustache print. Decides what is written out; how it is quoted is directive.ts. */
import type { Statement } from "../catalog/nginx-text.ts";
import { namesVariable } from "../catalog/nginx-variables.ts";
import type { ConfView, Directive, Family, InternalLocation, Profile, VariableMap } from "../plan/conf-view.ts";
import { type Printed, printDirective, quoteLines, quoteLua } from "../plan/directive.ts";
import { fastcgiParams } from "./fastcgi-params.ts";
import { httpBlocks } from "./http-blocks.ts";
import { coreRequestHeaders, forwardedMaps, mergeHeaders } from "./request-headers.ts";
import { hiddenHeaderLines, responseHeaderLines } from "./response-headers.ts";
import { serverSettings, serverViews } from "./server-view.ts";
import {
  earlyLines,
  headersBeside,
  markedText,
  profileSnippets,
  requestHeaderLines,
  responseHeadersBeside,
  snippetLines,
  statementsIn,
} from "./snippet-lines.ts";
import { isScripted, streamTemplate } from "./stream-template.ts";

/** Names that any template may use; every one of them is always there. */
export function templateView(view: ConfView, hash: string): object {
  const locations = [
    ...[hooked, ...view.profiles].flatMap((p) => profileLocations(p, view)),
    ...view.internal.map((l) => internalLocation(l, view)),
  ];
  const stream = streamTemplate(view);
  return {
    ...pathLines(view, stream !== null, isScripted(view)),
    stream,
    hash,
    user: view.user === undefined ? null : { user: view.user },
    workerProcesses: view.workerProcesses,
    errorLogLevel: view.errorLogLevel,
    main: lines([...view.main.map(printDirective), ...snippetLines(view.snippets.main)]),
    events: lines(view.events.map(printDirective)),
    http: lines([...view.http.map(printDirective), ...snippetLines(view.snippets.http)]),
    locationSnippets: lines(locationSnippetLines(view)),
    dictionaries: Object.entries(view.dictionaries).map(([name, bytes]) => ({ name: word(name), bytes })),
    configurationBodyLimit: view.configurationBodyLimit,
    blocks: lines(httpBlocks(view)),
    maps: [...forwardedMaps(view), ...view.maps].map(mapView),
    realIp: realIpLines(view),
    log: logView(view),
    requestHeaders: lines(requestHeaderLines(mergeHeaders(coreRequestHeaders(view), view.requestHeaders), "http")),
    grpcHeaders: lines(requestHeaderLines(mergeHeaders(coreRequestHeaders(view), view.requestHeaders), "grpc")),
    responseHeaders: lines(responseHeaderLines(view)),
    hideHeaders: lines(hiddenHeaderLines(view)),
    clearServer: clearServerLines(view),
    servers: serverViews(view),
    http2: view.http2 && view.features.http2Directive ? {} : null,
    metrics: view.metrics !== undefined,
    upstreams: upstreamViews(view, locations),
    locations,
    wafOff: lines(wafOff(view)),
    // every listener, or a new master cannot start beside workers of a dead one
    reuseport: view.listens.some((listen) => listen.reuseport),
    statusPort: view.statusPort,
    defaultServerPort: view.defaultServerPort,
    defaultServerIpv6: view.listens.some((listen) => listen.ipv6),
    healthPath: view.healthPath,
    init: printed(quoteLua(JSON.stringify(workerSettings(view, hash)))),
  };
}

/** What init_by_lua hands to the workers; lua-src/configuration/settings.ts reads it. */
function workerSettings(view: ConfView, hash: string): object {
  const profiles: Record<string, object> = {};
  for (const profile of [hooked, ...view.profiles]) {
    profiles[profile.id] = profileSnippets(profile, view);
  }
  const internal: Record<string, true> = {};
  for (const location of view.internal) {
    internal[location.name] = true;
  }
  return {
    hash,
    profiles,
    internal,
    servers: serverSettings(view),
    statusPort: String(view.statusPort),
    ...(view.metrics === undefined ? {} : { metrics: view.metrics }),
    logUpstream: namesUpstream(view),
    clearServer: clearServerLines(view).byLua,
    errorPages: view.server.some((directive) => directive.name === "error_page"),
    redirects: redirectSettings(view.http),
    ...passthroughSettings(view),
  };
}

/** Whether anything that every request meets names its backend. */
function namesUpstream({ accessLog, requestHeaders, responseHeaders, snippets }: ConfView): boolean {
  const texts = [
    ...(accessLog.target === undefined ? [] : [accessLog.format]),
    ...[...requestHeaders, ...responseHeaders].map(({ value }) => String(value)),
    ...[...snippets.http, ...snippets.server, ...snippets.location].map(({ snippet }) => snippet),
  ];
  return texts.some((text) => namesVariable(text, "proxy_upstream_name"));
}

function passthroughSettings({ stream, httpsPort }: ConfView): object {
  const innerPort = stream?.passthrough?.proxyPort;
  return innerPort === undefined ? {} : { passthrough: { httpsPort: String(httpsPort), innerPort: String(innerPort) } };
}

/** nginx makes redirects of its own absolute; Lua does the same for those that it sends. */
function redirectSettings(directives: readonly Directive[]): { readonly relative?: boolean; readonly port?: boolean } {
  const last = (name: string) => directives.findLast((directive) => directive.name === name)?.args[0];
  const [absolute, port] = [last("absolute_redirect"), last("port_in_redirect")];
  return {
    ...(absolute === undefined ? {} : { relative: absolute === "off" }),
    ...(port === undefined ? {} : { port: port === "on" }),
  };
}

function printed(text: string): Printed {
  return { printed: text };
}

function lines(texts: readonly string[]): readonly { readonly line: Printed }[] {
  return texts.map((text) => ({ line: printed(text) }));
}

/** A word that becomes part of a name in nginx.conf. */
function word(text: string): Printed {
  if (!/^[A-Za-z0-9_]+$/.test(text)) {
    throw new Error(`not a plain word: ${JSON.stringify(text)}`);
  }
  return printed(text);
}

function pathLines(view: ConfView, stream: boolean, scripted: boolean): object {
  const { paths } = view;
  const loaded = (name: string) => view.snippets.main.some(({ snippet }) => snippet.includes(name));
  const modules = [
    ...paths.modules,
    ...(stream && paths.streamModule !== undefined ? [paths.streamModule] : []),
    ...(scripted && paths.streamScriptModule !== undefined && !loaded("ngx_stream_js_module") ? [paths.streamScriptModule] : []),
  ];
  return {
    modules: modules.map((path) => ({ path })),
    luaPath: `${paths.luaDir}/?.lua;${paths.luaLibraries === undefined ? "" : `${paths.luaLibraries}/?.lua;`};`,
    socket: `unix:${paths.socket}`,
    pid: paths.pid,
    errorLog: paths.errorLog,
    temps: ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => ({
      name: word(`${name}_temp_path`),
      path: `${paths.tempDir}/${name}`,
    })),
    defaultCertificate: paths.defaultCertificate,
    defaultKey: paths.defaultKey,
    mimeTypes: paths.mimeTypes === undefined ? null : { path: paths.mimeTypes },
  };
}

function mapView(map: VariableMap): object {
  return { source: map.source, target: printed(`$${word(map.target).printed}`), entries: map.entries };
}

function realIpLines(view: ConfView): object {
  const { forwarded } = view;
  if (!forwarded.useForwardedHeaders && !forwarded.useProxyProtocol && !forwarded.enableRealIp) {
    // behind ssl_preread the client is in the PROXY line
    return view.stream?.passthrough === undefined ? [] : lines(["real_ip_header proxy_protocol;", "set_real_ip_from 127.0.0.1;"]);
  }
  const header = forwarded.chain?.secretHeader ?? (forwarded.useProxyProtocol ? "proxy_protocol" : forwarded.forwardedForHeader);
  const directives: Directive[] = [
    { name: "real_ip_header", args: [header] },
    { name: "real_ip_recursive", args: ["on"] },
    ...forwarded.trusted.map((cidr) => ({ name: "set_real_ip_from", args: [cidr] })),
    // what comes by way of ssl_preread; whether its client is trusted is seen to before
    ...(view.stream?.passthrough === undefined ? [] : [{ name: "set_real_ip_from", args: ["127.0.0.1"] }]),
    // realip looks twice: before this header is there, and again after the rewrite phase
    ...(forwarded.chain === undefined
      ? []
      : [{ name: "more_set_input_headers", args: [`${forwarded.chain.secretHeader}: $sluice_proxy_chain`] }]),
  ];
  return lines(directives.map(printDirective));
}

function logView(view: ConfView): object {
  const { accessLog } = view;
  const escaping = accessLog.escape === "default" ? "" : ` escape=${accessLog.escape}`;
  const target: Directive =
    accessLog.target === undefined
      ? { name: "access_log", args: ["off"] }
      : { name: "access_log", args: [accessLog.target, "sluice", ...accessLog.params, "if=$loggable"] };
  return lines([`log_format sluice${escaping} ${quoteLines(accessLog.format)};`, printDirective(target)]);
}

function clearServerLines(view: ConfView): { readonly byModule: boolean; readonly byLua: boolean } {
  if (view.serverTokens || view.allowBackendServerHeader) {
    return { byModule: false, byLua: false };
  }
  return { byModule: view.features.headersMore, byLua: !view.features.headersMore };
}

interface Location {
  readonly match: Printed;
  readonly hooks: boolean;
  readonly hook: { readonly module: Printed } | null;
  /** Leads on to that named location. */
  readonly entry: { readonly name: Printed } | null;
  readonly upstreams: readonly Upstream[];
  readonly body: readonly { readonly line: Printed }[];
}

interface Upstream {
  readonly name: string;
  readonly keepalive: boolean;
}

/** Where snippets act on the URI there are two: nginx finds the first, whose hook leads on to the second with the real URI. */
function profileLocations(profile: Profile, view: ConfView): Location[] {
  if (!/^[0-9a-z]{1,40}$/.test(profile.id)) {
    throw new Error(`not a profile id: ${JSON.stringify(profile.id)}`);
  }
  const upstreams = upstreamsOf(profile.family, profile.pool, profile.keepalive !== false);
  const snippets = [...(profile.snippets ?? []), ...view.snippets.location];
  const statements = statementsIn(snippets);
  const uriFirst = "uriFirst" in profileSnippets(profile, view);
  const body = [
    ...profile.directives.map(printDirective),
    ...headerLines(profile, view, statements),
    ...responseHeadersBeside(view, statements),
    ...(uriFirst ? snippets.map(markedText) : snippetLines(snippets)),
    passLine(profile.family, upstreams, "$sluice_uri"),
  ];
  const match = `= /~${profile.id}`;
  const found = { match: printed(uriFirst ? `@${profile.id}` : match), hooks: true, hook: null, entry: null, upstreams, body: lines(body) };
  if (!uriFirst) return [found];
  const first = [...wafOff(view), ...profile.directives.filter((d) => foundFirst.has(d.name)).map(printDirective), ...earlyLines(snippets)];
  const entry = { name: printed(quoteLua(`@${profile.id}`)) };
  return [{ match: printed(match), hooks: false, hook: null, entry, upstreams: [], body: lines(first) }, found];
}

/** Where a request is not a client's, or comes by on its way: what checks all locations shall not check this one. */
function wafOff(view: ConfView): string[] {
  return view.http.some((d) => d.name === "modsecurity") ? ["modsecurity off;"] : [];
}

/** What nginx looks at when it finds a location. */
const foundFirst = new Set(["client_max_body_size", "error_page"]);

/** The default location with hooks, for routes that need them and for paths that look like a profile's. */
const hooked: Profile = { id: "h", family: "http", directives: [] };

function internalLocation(location: InternalLocation, view: ConfView): Location {
  if (!/^(\/~|@)[0-9a-z-]+$/.test(location.name)) {
    throw new Error(`not an internal location: ${JSON.stringify(location.name)}`);
  }
  const upstreams = location.passTo === undefined ? upstreamsOf(location.family, location.pool, true) : [];
  const pass =
    location.passTo === undefined
      ? passLine(location.family, upstreams, "")
      : printDirective({ name: passDirective(location.family), args: [location.passTo] });
  const body = [...wafOff(view), ...location.directives.map(printDirective), ...headerLines(location, view, []), pass];
  const match = location.name.startsWith("@") ? location.name : `= ${location.name}`;
  const hook = location.hook === undefined ? null : { module: printed(quoteLua(location.hook)) };
  return { match: printed(match), hooks: false, hook, entry: null, upstreams, body: lines(body) };
}

function locationSnippetLines(view: ConfView): string[] {
  const statements = statementsIn(view.snippets.location);
  return [
    ...headersBeside(view, ["http"], [], statements),
    ...responseHeadersBeside(view, statements),
    ...snippetLines(view.snippets.location),
  ];
}

function headerLines(
  location: Pick<Profile, "family" | "requestHeaders" | "fastcgiParams">,
  view: ConfView,
  statements: readonly Statement[],
): string[] {
  const own = location.requestHeaders ?? [];
  if (location.family !== "fcgi") return headersBeside(view, [location.family], own, statements);
  const headers = mergeHeaders(mergeHeaders(coreRequestHeaders(view), view.requestHeaders), own);
  return fastcgiParams(headers, location.fastcgiParams ?? []).map((args) => printDirective({ name: "fastcgi_param", args }));
}

function upstreamsOf(family: Family, pool: string | undefined, keepalive: boolean): Upstream[] {
  const suffix = pool === undefined ? "" : `_${word(pool).printed}`;
  const families = family === "auto" ? ["http", "https"] : [family];
  return families.map((name) => ({ name: `sluice_${name}${suffix}`, keepalive: keepalive && name !== "fcgi" }));
}

function passDirective(family: Family): string {
  if (family === "fcgi") {
    return "fastcgi_pass";
  }
  return family === "grpc" || family === "grpcs" ? "grpc_pass" : "proxy_pass";
}

// braces, because a pool's name may follow
const schemeSuffix = "_$" + "{scheme}";

function passLine(family: Family, upstreams: readonly Upstream[], uri: string): string {
  const name = upstreams[0]?.name ?? "";
  const directive = passDirective(family);
  if (family === "fcgi") {
    return printDirective({ name: directive, args: [name] });
  }
  if (directive === "grpc_pass") {
    return printDirective({ name: directive, args: [`${family}://${name}`] });
  }
  const target = family === "auto" ? `$scheme://${name.replace("_http", schemeSuffix)}` : `${family}://${name}`;
  return printDirective({ name: directive, args: [target + uri] });
}

function upstreamViews(view: ConfView, locations: readonly Location[]): object[] {
  const all = [{ name: "sluice_http", keepalive: true }, ...locations.flatMap((location) => location.upstreams)];
  const byName = new Map(all.map((upstream) => [upstream.name, upstream]));
  const { upstreams } = view;
  const keepalive = [
    printDirective({ name: "keepalive", args: [upstreams.keepalive] }),
    printDirective({ name: "keepalive_requests", args: [upstreams.keepaliveRequests] }),
    printDirective({ name: "keepalive_timeout", args: [upstreams.keepaliveTimeout] }),
    printDirective({ name: "keepalive_time", args: [upstreams.keepaliveTime] }),
  ];
  return [...byName.values()].map(({ name, keepalive: kept }) => ({
    name: word(name),
    secure: name.startsWith("sluice_https") || name.startsWith("sluice_grpcs"),
    keepalive: kept && upstreams.keepalive > 0 ? lines(keepalive) : [],
  }));
}
