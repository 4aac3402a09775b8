/** Ports that something else holds: nginx would refuse the whole configuration for one of them, so they are left out. */

import { createSocket } from "node:dgram";
import { createServer, isIPv6 } from "node:net";
import type { Finding } from "../model/finding.ts";
import type { StreamParts, StreamServer } from "../model/stream.ts";

/** `held`: what our own nginx listens on already. */
export async function withoutTakenPorts(parts: StreamParts, held: readonly StreamServer[], findings: Finding[]): Promise<StreamParts> {
  const servers: StreamServer[] = [];
  for (const server of parts.servers) {
    const ours = held.some((h) => h.protocol === server.protocol && h.port === server.port);
    if (ours || !(await isTaken(server))) {
      servers.push(server);
      continue;
    }
    const about = { kind: "ConfigMap", namespace: "", name: `${server.protocol.toLowerCase()}-services` };
    findings.push({ code: "port-taken", about, at: `data.${server.port}`, text: `${server.protocol} port ${server.port} is in use` });
  }
  return servers.length === parts.servers.length ? parts : { ...parts, servers };
}

/** Other errors, such as a lack of privileges, need not be nginx's. */
export function isTaken({ protocol, port }: Pick<StreamServer, "protocol" | "port">, host = "0.0.0.0"): Promise<boolean> {
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException) => resolve(error.code === "EADDRINUSE");
    if (protocol === "TCP") {
      const server = createServer();
      server.once("error", failed);
      server.listen({ port, host, ipv6Only: true, exclusive: true }, () => server.close(() => resolve(false)));
    } else {
      const socket = createSocket({ type: isIPv6(host) ? "udp6" : "udp4", ipv6Only: isIPv6(host) });
      socket.once("error", failed);
      socket.bind({ port, address: host, exclusive: true }, () => socket.close(() => resolve(false)));
    }
  });
}
