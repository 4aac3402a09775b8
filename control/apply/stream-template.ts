/** ConfView.stream → the names that nginx/partials/stream.mustache prints. */
import { type StreamServer, streamKey } from "../model/stream.ts";
import type { Argument, ConfView, Directive, Listen, Snippet, StreamScript, StreamView } from "../plan/conf-view.ts";
import { printDirective, quoteArgument, quoteLines } from "../plan/directive.ts";
import { endpointText } from "../plan/stream-files.ts";
import { lines } from "./printed.ts";

/** Some server looks its endpoints up, or the hosts that it passes through. */
export function isScripted({ stream, features }: ConfView): boolean {
  return features.stream && stream?.script !== undefined && (looksUp(stream) || passesLive(stream));
}

function looksUp(stream: StreamView): boolean {
  return stream.servers.some((server) => server.endpoints === undefined);
}

function passesLive(stream: StreamView): boolean {
  return stream.passthrough !== undefined && stream.passthrough.hosts === undefined;
}

/** Null: no stream part. Administrators' text alone makes one, too. */
export function streamTemplate(view: ConfView): object | null {
  const { stream } = view;
  const snippets: readonly Snippet[] = view.snippets.stream;
  if (!view.features.stream || (stream === undefined && snippets.length === 0)) return null;
  const servers = stream?.servers.map((server) => serverView(server, stream, view)) ?? [];
  return {
    general: lines([...(stream === undefined ? [] : generalLines(stream, view)), ...snippets.map(({ snippet }) => snippet)]),
    servers,
    script: stream !== undefined && isScripted(view) ? scriptView(stream, stream.script as StreamScript, view) : null,
    passthrough: stream?.passthrough === undefined ? null : passthroughView(stream, stream.passthrough, view),
  };
}

function generalLines(stream: StreamView, view: ConfView): string[] {
  // host names are long
  const hashes: Directive[] = [
    { name: "map_hash_bucket_size", args: [512] },
    { name: "map_hash_max_size", args: [nextPower(2 * (view.stream?.passthrough?.hosts?.length ?? 0))] },
    { name: "variables_hash_bucket_size", args: [256] },
  ];
  const format = `log_format sluice_stream ${quoteLines(stream.logFormat.replace(/\n$/, ""))};`;
  return [format, ...[accessLog(stream), ...hashes, ...stream.directives].map(printDirective)];
}

function accessLog({ accessLog: path, logParams }: StreamView, ...more: readonly string[]): Directive {
  return { name: "access_log", args: path === undefined ? ["off"] : [path, "sluice_stream", ...logParams, ...more] };
}

function nextPower(count: number): number {
  return 2 ** Math.max(11, Math.ceil(Math.log2(Math.max(1, count))));
}

function serverView(server: StreamServer, stream: StreamView, view: ConfView): object {
  const udp = server.protocol === "UDP";
  const name = `sluice_${udp ? "udp" : "tcp"}_${server.port}`;
  const flags = [...(udp ? ["udp"] : []), ...(server.decode ? ["proxy_protocol"] : [])];
  return {
    name: { printed: name },
    upstream: server.endpoints === undefined ? null : { peers: lines(server.endpoints.map((e) => directive("server", e))) },
    target: { printed: server.endpoints === undefined ? "$sluice_target" : name },
    listens: lines(listenLines(server.port, flags, view)),
    body: lines([
      ...(server.endpoints === undefined ? lookupLines(server, stream) : []),
      ...(udp ? [directive("proxy_responses", stream.responses)] : []),
      ...(server.encode ? [directive("proxy_protocol", "on")] : []),
    ]),
  };
}

function lookupLines(server: StreamServer, stream: StreamView): string[] {
  // not for all servers: a stream-snippet may name a resolver of its own
  return [directive("set", "$sluice_stream", streamKey(server)), directive("resolver", stream.script?.address ?? "")];
}

function scriptView(stream: StreamView, script: StreamScript, view: ConfView): object {
  // as the others, so that a new master can start beside workers of a dead one
  const listen = directive("listen", script.address, "udp", ...(view.listens[0]?.reuseport === true ? ["reuseport"] : []));
  return {
    general: lines([
      `js_import sluice from ${quoteArgument(script.file)};`,
      directive("js_var", "$sluice_streams", script.folder),
      ...(looksUp(stream) ? [directive("js_set", "$sluice_target", "sluice.target")] : []),
    ]),
    names: looksUp(stream) ? { listen: { printed: listen } } : null,
  };
}

function directive(name: string, ...args: readonly Argument[]): string {
  return printDirective({ name, args });
}

/** On the addresses of the http part. */
function listenLines(port: number, flags: readonly string[], view: ConfView): string[] {
  const like = view.listens[0] as Listen;
  const v4 = like.addresses.filter((a) => !a.startsWith("["));
  const v6 = like.addresses.filter((a) => a.startsWith("["));
  const all = like.addresses.length === 0;
  const heads = [
    ...(all ? [String(port)] : v4.map((a) => `${a}:${port}`)),
    ...(like.ipv6 ? (all ? ["[::]"] : v6).map((a) => `${a}:${port}`) : []),
  ];
  const tail = [...flags, ...(like.reuseport ? ["reuseport"] : [])];
  return heads.map((head) => printDirective({ name: "listen", args: [head, ...tail] }));
}

/**
 * nginx sends a PROXY line to all of a server's targets or to none. So the first server sends one always: to http{}, which
 * wants it, or by way of a second server, which takes it off again, to a passed-through host.
 */
function passthroughView(stream: StreamView, passthrough: NonNullable<StreamView["passthrough"]>, view: ConfView): object {
  const decode = view.forwarded.useProxyProtocol ? ["proxy_protocol"] : [];
  return {
    listens: lines(listenLines(passthrough.httpsPort, [...decode, "so_keepalive=15s:15s:9"], view)),
    // whoever speaks TLS has timeouts of its own; the most that a timer takes, and TCP tells of peers that are gone
    patience: lines([directive("proxy_timeout", "24d"), directive("proxy_socket_keepalive", "on")]),
    client: lines([
      // the others' requests have lines in the access log of http{}
      printDirective(accessLog(stream, "if=$sluice_tls_host")),
      // the PROXY line of the client's side names the client, whoever sent it
      ...(view.forwarded.useProxyProtocol
        ? ["set_real_ip_from 0.0.0.0/0;", "set_real_ip_from ::/0;", directive("proxy_protocol_timeout", passthrough.lineTimeout)]
        : []),
    ]),
    inner: `127.0.0.1:${passthrough.proxyPort}`,
    socket: `unix:${passthrough.socket}`,
    hosts:
      passthrough.hosts === undefined ? null : { list: passthrough.hosts.map((host) => ({ host: host.host, target: endpointText(host) })) },
    lookup: passthrough.hosts === undefined,
  };
}
