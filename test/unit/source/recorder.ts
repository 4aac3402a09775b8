import type { Finding } from "../../../control/model/finding.ts";
import { refKey } from "../../../control/model/ids.ts";
import type { KubeObject, Sink, SourceEvent } from "../../../control/source/source.ts";

/** A sink that remembers, and lets a test wait for a state instead of for a time. */
export class Recorder implements Sink {
  readonly batches: (readonly SourceEvent[])[] = [];
  readonly objects = new Map<string, KubeObject>();
  current: readonly Finding[] = [];
  synchronised = 0;
  readonly #waiting = new Set<() => void>();

  change(events: readonly SourceEvent[]): void {
    if (events.length === 0) throw new Error("empty batch");
    this.batches.push(events);
    for (const event of events) {
      if (event.type === "upsert") this.objects.set(keyOf(event.object), event.object);
      else this.objects.delete(refKey(event));
    }
    this.#wake();
  }

  findings(findings: readonly Finding[]): void {
    this.current = findings;
    this.#wake();
  }

  synced(): void {
    this.synchronised += 1;
    this.#wake();
  }

  /** Resolves once the condition holds. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!condition()) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }

  keys(): string[] {
    return [...this.objects.keys()].sort();
  }

  codes(): string[] {
    return this.current.map((finding) => finding.code);
  }

  #wake(): void {
    for (const check of [...this.#waiting]) check();
  }
}

function keyOf(object: KubeObject): string {
  return refKey({ kind: object.kind, namespace: object.metadata.namespace, name: object.metadata.name });
}
