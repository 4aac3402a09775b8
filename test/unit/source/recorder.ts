import type { Finding } from "../../../control/model/finding.ts";
import { refKey } from "../../../control/model/ids.ts";
import type { KubeObject, Sink, SourceEvent } from "../../../control/source/source.ts";
import { Waiting } from "../../kit/waiting.ts";

/** A sink that remembers, and lets a test wait for a state instead of for a time. */
export class Recorder implements Sink {
  readonly batches: (readonly SourceEvent[])[] = [];
  readonly objects = new Map<string, KubeObject>();
  current: readonly Finding[] = [];
  synchronised = 0;
  readonly #waiting = new Waiting();

  change(events: readonly SourceEvent[]): void {
    if (events.length === 0) throw new Error("empty batch");
    this.batches.push(events);
    for (const event of events) {
      if (event.type === "upsert") this.objects.set(keyOf(event.object), event.object);
      else this.objects.delete(refKey(event));
    }
    this.#waiting.wake();
  }

  findings(findings: readonly Finding[]): void {
    this.current = findings;
    this.#waiting.wake();
  }

  synced(): void {
    this.synchronised += 1;
    this.#waiting.wake();
  }

  /** Resolves once the condition holds. */
  until(condition: () => boolean): Promise<void> {
    return this.#waiting.until(condition);
  }

  keys(): string[] {
    return [...this.objects.keys()].sort();
  }

  codes(): string[] {
    return this.current.map((finding) => finding.code);
  }
}

function keyOf(object: KubeObject): string {
  return refKey({ kind: object.kind, namespace: object.metadata.namespace, name: object.metadata.name });
}
