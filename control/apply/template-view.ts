/** ConfView → the names that nginx/*.mustache print. Decides what is written out; how it is quoted is directive.ts. */

import type { ConfView, Directive, VariableMap } from "../plan/conf-view.ts";
import { printDirective, quoteLines, quoteLua } from "../plan/directive.ts";
import { httpBlocks } from "./http-blocks.ts";
import { hooked, internalLocation, locationSnippetLines, profileLocations, upstreamViews, wafOff } from "./locations.ts";
import { lines, printed, word } from "./printed.ts";
import { coreRequestHeaders, forwardedMaps, mergeHeaders } from "./request-headers.ts";
import { hiddenHeaderLines, responseHeaderLines } from "./response-headers.ts";
import { serverViews } from "./server-view.ts";
import { requestHeaderLines, snippetLines } from "./snippet-lines.ts";
import { isScripted, streamTemplate } from "./stream-template.ts";
import { clearServerLines, workerSettings } from "./worker-settings.ts";

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
