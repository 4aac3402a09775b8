/** What happens here → Events: findings, objects taken in, reloads. One replica speaks of users' objects: the leader. */

import type { Finding } from "../model/finding.ts";
import type { ObjectRef } from "../model/ids.ts";
import { type Objects, sameForBuild } from "../objects/objects.ts";
import type { Ingress } from "../source/kinds.ts";
import { kindRows } from "../source/kinds.ts";
import type { KindName, KubeObject, SourceEvent } from "../source/source.ts";
import type { EventObject, EventRecorder, EventText } from "./events.ts";
import { eventOfFinding } from "./finding-events.ts";

export interface ReportOptions {
  readonly events: EventRecorder;
  readonly objects: Objects;
  /** This pod; undefined while it could not be read. */
  readonly self: () => EventObject | undefined;
  readonly speaks: () => boolean;
  readonly isOurs: (ingress: Ingress) => boolean;
  /** Main, TCP and UDP ConfigMap, as namespace/name. */
  readonly configMaps: ReadonlySet<string>;
  /** --disable-sync-events: nothing about users' objects. */
  readonly silent: boolean;
}

export class Reports {
  readonly #o: ReportOptions;

  constructor(options: ReportOptions) {
    this.#o = options;
  }

  finding(finding: Finding): void {
    // Reloads are told by the pod that tried.
    if (finding.code === "config-refused" || this.#o.silent || !this.#o.speaks()) return;
    const text = eventOfFinding(finding);
    const object = text === undefined ? undefined : this.#objectOf(finding.about);
    if (text !== undefined && object !== undefined) this.#o.events.record(object, text);
  }

  reloaded(problem: string | undefined): void {
    const self = this.#o.self();
    if (self === undefined) return;
    const text: EventText =
      problem === undefined
        ? { type: "Normal", reason: "RELOAD", message: "NGINX reload triggered due to a change in configuration" }
        : { type: "Warning", reason: "RELOAD", message: `Error reloading NGINX: ${problem}` };
    this.#o.events.record(self, text);
  }

  /** Before the objects take the batch over. */
  changes(batch: readonly SourceEvent[]): void {
    if (this.#o.silent || !this.#o.speaks()) return;
    for (const event of batch) {
      if (event.type !== "upsert") continue;
      const { object } = event;
      const { namespace, name } = object.metadata;
      const former = this.#o.objects.get({ kind: object.kind, namespace, name });
      if (object.kind === "Ingress") {
        if (former?.kind === "Ingress" && sameForBuild(former, object)) continue;
        if (this.#o.isOurs(object))
          this.#o.events.record(eventObject(object), { type: "Normal", reason: "Sync", message: "Scheduled for sync" });
      } else if (object.kind === "ConfigMap" && this.#o.configMaps.has(`${namespace}/${name}`)) {
        if (former?.metadata.resourceVersion === object.metadata.resourceVersion) continue;
        const reason = former === undefined ? "CREATE" : "UPDATE";
        this.#o.events.record(eventObject(object), { type: "Normal", reason, message: `ConfigMap ${namespace}/${name}` });
      }
    }
  }

  /** What is about no object of the cluster is said of this pod. */
  #objectOf(ref: ObjectRef): EventObject | undefined {
    if (!Object.hasOwn(kindRows, ref.kind)) return this.#o.self();
    const object = this.#o.objects.get(ref);
    if (object !== undefined) return eventObject(object);
    const { apiVersion } = kindRows[ref.kind as KindName];
    return { apiVersion, kind: ref.kind, namespace: ref.namespace, name: ref.name, uid: "" };
  }
}

function eventObject(object: KubeObject): EventObject {
  const { namespace, name, uid } = object.metadata;
  return { apiVersion: kindRows[object.kind].apiVersion, kind: object.kind, namespace, name, uid };
}
