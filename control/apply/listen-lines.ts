/** Listen → the lines of a server block. */
import type { ConfView, Listen } from "../plan/conf-view.ts";

/** `first`: the block that serves all hosts without one of their own; options of the socket are said there alone. */
export function listenLines(listen: Listen, view: ConfView, first: boolean): string[] {
  const v4 = listen.addresses.filter((a) => !a.startsWith("["));
  const v6 = listen.addresses.filter((a) => a.startsWith("["));
  const all = listen.addresses.length === 0;
  const heads = [
    ...(all ? [String(listen.port)] : v4.map((a) => `${a}:${listen.port}`)),
    ...(listen.ipv6 ? (all ? ["[::]"] : v6).map((a) => `${a}:${listen.port}`) : []),
  ];
  const tail = [
    ...(first ? ["default_server"] : []),
    ...(listen.ssl ? ["ssl"] : []),
    // before 1.25.1 http2 on a plain listener would shut out HTTP/1
    ...(listen.ssl && view.http2 && !view.features.http2Directive ? ["http2"] : []),
    ...(listen.proxyProtocol ? ["proxy_protocol"] : []),
    ...(first && listen.reuseport ? ["reuseport"] : []),
    ...(first && listen.backlog !== undefined ? [`backlog=${listen.backlog}`] : []),
  ];
  // Without reuseport the packets of a connection would reach any worker.
  const quic = ["quic", ...(first ? ["default_server", "reuseport"] : [])];
  return [tail, ...(listen.quic ? [quic] : [])].flatMap((rest) =>
    heads.map((head) => `${["listen", quoteListen(head), ...rest].join(" ")};`),
  );
}

function quoteListen(head: string): string {
  if (!/^[0-9A-Za-z.:[\]]+$/.test(head)) {
    throw new Error(`not a listen address: ${JSON.stringify(head)}`);
  }
  return head;
}
