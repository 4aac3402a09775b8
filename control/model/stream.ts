/** TCP and UDP services, and TLS that is passed through unopened. */

import type { EndpointSource } from "./backend.ts";
import type { ObjectRef } from "./ids.ts";

export interface Stream {
  readonly protocol: "TCP" | "UDP";
  readonly port: number;
  readonly endpoints: EndpointSource;
  /** Clients begin with a line of the PROXY protocol. */
  readonly decode: boolean;
  /** Endpoints get such a line. */
  readonly encode: boolean;
  readonly source: ObjectRef;
}

export interface Passthrough {
  /** Full name, lower case. */
  readonly host: string;
  readonly address: string;
  readonly port: number;
}

/** A port whose connections or datagrams go to endpoints. */
export interface StreamServer {
  readonly protocol: "TCP" | "UDP";
  readonly port: number;
  readonly decode: boolean;
  readonly encode: boolean;
  /** address:port, IPv6 in brackets; at least one. Undefined: looked up for each connection. */
  readonly endpoints: readonly string[] | undefined;
}

/** Name of the stream's file of endpoints. */
export function streamKey({ protocol, port }: { readonly protocol: "TCP" | "UDP"; readonly port: number }): string {
  return `${protocol}-${port}`;
}

/** What of the user's objects stands in the stream part; endpoints and passed-through hosts where nginx has no script to look them up. */
export interface StreamParts {
  readonly servers: readonly StreamServer[];
  readonly passthroughs: readonly Passthrough[] | undefined;
}

export const noStreams: StreamParts = { servers: [], passthroughs: [] };
