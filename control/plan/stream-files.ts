/**
 * What nginx looks up for a connection → the small files that nginx/njs/endpoints.ts reads. A host whose TLS is passed
 * through: a file with address:port, named by the host's SHA-256. Endpoints of a TCP or UDP service: a service's file has lines
 * "SHARE TARGET". The target is address:port or, for several addresses with one port, NAME.sluice:port, so that nginx tries
 * the next one when the first refuses; the file NAME holds the DNS records, IPv4 in the first line, IPv6 in the second.
 */

import { createHash } from "node:crypto";
import { isIPv6 } from "node:net";
import type { EndpointDocument } from "../../lua-src/wire.ts";

export interface StreamFiles {
  readonly service: string;
  /** By name; a name stands for its content, which nginx may keep. */
  readonly names: ReadonlyMap<string, string>;
}

/** Fits into the 4096 bytes that nginx's resolver takes. */
const most = 100;

export function passthroughFile(host: string): string {
  return createHash("sha256").update(host).digest("hex");
}

export function streamFiles(endpoints: readonly EndpointDocument[]): StreamFiles {
  const names = new Map<string, string>();
  const lines: string[] = [];
  for (const [port, addresses] of byPort(endpoints)) {
    const groups = Math.ceil(addresses.length / most);
    for (let i = 0; i < groups; i++) {
      const group = addresses.filter((_, index) => index % groups === i);
      lines.push(`${group.length} ${targetOf(group, port, names)}`);
    }
  }
  return { service: lines.join("\n"), names };
}

/** Address with port as nginx takes it. */
export function endpointText({ address, port }: { readonly address: string; readonly port: string | number }): string {
  return `${isIPv6(address) ? `[${address}]` : address}:${port}`;
}

function byPort(endpoints: readonly EndpointDocument[]): Map<string, string[]> {
  const ports = new Map<string, string[]>();
  for (const { address, port } of endpoints) {
    const list = ports.get(port) ?? [];
    ports.set(port, list);
    if (!list.includes(address)) list.push(address);
  }
  return ports;
}

function targetOf(addresses: readonly string[], port: string, names: Map<string, string>): string {
  const [first, second] = addresses;
  if (first !== undefined && second === undefined) return endpointText({ address: first, port });
  const ipv4 = addresses.filter((a) => !isIPv6(a)).map((a) => record(1, Buffer.from(a.split(".").map(Number))));
  const ipv6 = addresses.filter((a) => isIPv6(a)).map((a) => record(28, ipv6Bytes(a)));
  const text = `${ipv4.join("")}\n${ipv6.join("")}`;
  const name = createHash("sha256").update(text).digest("hex").slice(0, 16);
  names.set(name, text);
  return `${name}.sluice:${port}`;
}

/** Name (a pointer to that of the question), type, class IN, an hour, data. */
function record(type: 1 | 28, data: Buffer): string {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(3600, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]).toString("hex");
}

/** Of canonical or any other text; a dotted tail is not used by Kubernetes and not read. */
function ipv6Bytes(text: string): Buffer {
  const [head = "", tail] = (text.split("%")[0] as string).split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":"));
  const [before, after] = [groups(head), groups(tail ?? "")];
  const zeros = tail === undefined ? [] : Array<string>(8 - before.length - after.length).fill("0");
  const all = [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16));
  return Buffer.from(all.flatMap((number) => [number >> 8, number & 255]));
}
