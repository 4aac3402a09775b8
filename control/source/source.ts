/** Where objects come from. A source emits plain, reduced objects (kinds.ts); it knows nothing of what they mean. */

import type { Finding } from "../model/finding.ts";
import type { ConfigMap, EndpointSlice, Ingress, IngressClass, Namespace, Node, Pod, Secret, Service } from "./kinds.ts";

export type KubeObject = Ingress | IngressClass | Service | EndpointSlice | Secret | ConfigMap | Namespace | Node | Pod;
export type KindName = KubeObject["kind"];

export type SourceEvent =
  | { readonly type: "upsert"; readonly object: KubeObject }
  | { readonly type: "delete"; readonly kind: KindName; readonly namespace: string; readonly name: string };

export interface Sink {
  /** One batch: applied together. Never called with an empty list. */
  change(events: readonly SourceEvent[]): void;
  /** The source's own findings (unreadable file, malformed object); replaces what it said before. */
  findings(findings: readonly Finding[]): void;
  /** The API server forbids (false) or allows again (true) to read a kind that work can go on without. */
  readable?(kind: KindName, readable: boolean): void;
  /** Every kind has been listed once. Called exactly once. */
  synced(): void;
}

export interface Source {
  start(sink: Sink): void;
  stop(): Promise<void>;
  /** One line for /healthz?verbose and dbg: what is watched and how old the last contact is. */
  describe(): string;
}
