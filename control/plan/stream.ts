/** TCP and UDP services and passed-through hosts → the stream part of nginx.conf. */

import type { EndpointDocument } from "../../lua-src/wire.ts";
import type { Settings } from "../catalog/settings.ts";
import type { EndpointSource } from "../model/backend.ts";
import { type Passthrough, type Stream, type StreamParts, type StreamServer, streamKey } from "../model/stream.ts";
import type { Directive, StreamScript, StreamView } from "./conf-view.ts";
import { endpointText } from "./stream-files.ts";

export type EndpointsOf = (source: EndpointSource) => readonly EndpointDocument[];

/** `live`: endpoints and passed-through hosts are looked up for each connection. Else streams without one are left out: their port stays closed. */
export function streamParts(
  streams: readonly Stream[],
  passthroughs: readonly Passthrough[],
  live: boolean,
  endpointsOf: EndpointsOf,
): StreamParts {
  const servers: StreamServer[] = [];
  for (const { protocol, port, decode, encode, endpoints: source } of streams) {
    const endpoints = live ? undefined : endpointsOf(source).map(endpointText);
    if (endpoints?.length !== 0) servers.push({ protocol, port, decode, encode, endpoints });
  }
  return { servers, passthroughs: live ? undefined : passthroughs };
}

/** By stream key. */
export function streamEndpoints(streams: readonly Stream[], endpointsOf: EndpointsOf): Map<string, readonly EndpointDocument[]> {
  return new Map(streams.map((stream) => [streamKey(stream), endpointsOf(stream.endpoints)]));
}

export interface StreamSurroundings {
  readonly available: boolean;
  /** --enable-ssl-passthrough: the https port is the stream part's. */
  readonly passthrough: { readonly httpsPort: number; readonly proxyPort: number } | undefined;
  /** See ConfSurroundings. */
  readonly script: StreamScript | undefined;
  readonly passthroughSocket: string;
  readonly logPath: (path: string) => string;
}

/** Undefined: no stream part at all. */
export function streamView(parts: StreamParts, settings: Settings, around: StreamSurroundings): StreamView | undefined {
  if (!around.available || (parts.servers.length === 0 && around.passthrough === undefined)) return undefined;
  const off = settings["disable-access-log"] || settings["disable-stream-access-log"];
  const path = settings["stream-access-log-path"] ?? settings["access-log-path"];
  return {
    servers: parts.servers,
    ...(around.script === undefined ? {} : { script: around.script }),
    directives: [
      ...proxyDirectives(settings),
      ...(settings["enable-real-ip"] ? settings["proxy-real-ip-cidr"].map((cidr) => ({ name: "set_real_ip_from", args: [cidr] })) : []),
    ],
    logFormat: settings["log-format-stream"],
    ...(off ? {} : { accessLog: around.logPath(path) }),
    logParams: settings["access-log-params"].split(/\s+/).filter((p) => p !== ""),
    responses: settings["proxy-stream-responses"],
    ...(around.passthrough === undefined
      ? {}
      : {
          passthrough: {
            ...around.passthrough,
            hosts: parts.passthroughs,
            socket: around.passthroughSocket,
            lineTimeout: settings["proxy-protocol-header-timeout"],
          },
        }),
  };
}

function proxyDirectives(settings: Settings): Directive[] {
  return [
    { name: "proxy_timeout", args: [settings["proxy-stream-timeout"]] },
    { name: "proxy_next_upstream", args: [settings["proxy-stream-next-upstream"] ? "on" : "off"] },
    { name: "proxy_next_upstream_timeout", args: [settings["proxy-stream-next-upstream-timeout"]] },
    { name: "proxy_next_upstream_tries", args: [settings["proxy-stream-next-upstream-tries"]] },
  ];
}
