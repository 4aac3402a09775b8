/** A ClusterSource that follows a double of the API server, and what a test sees of both. */

import type { KubeConfig } from "@kubernetes/client-node";
import type { Clock } from "../../../control/run/clock.ts";
import { createLogger } from "../../../control/run/logger.ts";
import { type ClusterOptions, ClusterSource, type Followed, followedFor } from "../../../control/source/cluster.ts";
import type { KindName } from "../../../control/source/source.ts";
import { FakeApi } from "../../kit/fake-api.ts";
import { Recorder } from "./recorder.ts";

export const maps = "/api/v1/configmaps";

export class Following {
  readonly api = new FakeApi();
  readonly sink = new Recorder();
  readonly log: string[] = [];
  /** Waits as the source asked for them; none is waited for. */
  readonly waits: number[] = [];
  #source: ClusterSource | undefined;

  async start(
    followed: readonly Followed[] = all(["ConfigMap"]),
    more: Partial<ClusterOptions> = {},
    config?: KubeConfig,
  ): Promise<ClusterSource> {
    const clock: Clock = {
      now: () => Date.now(),
      pause: (ms) => {
        this.waits.push(ms);
        return new Promise((resolve) => setImmediate(resolve));
      },
    };
    const logger = createLogger(0, { write: (line) => this.log.push(line) });
    this.#source = new ClusterSource({ config: config ?? (await this.api.listen()), followed, logger, clock, ...more });
    this.#source.start(this.sink);
    return this.#source;
  }

  async stop(): Promise<void> {
    await this.#source?.stop();
    await this.api.close();
  }

  /** The field that the tests write. */
  dataOf(name: string): string | undefined {
    const object = this.sink.objects.get(`ConfigMap/default/${name}`);
    return object?.kind === "ConfigMap" ? object.data.value : undefined;
  }
}

export function all(kinds: readonly KindName[]): Followed[] {
  return followedFor({ kinds, namespace: "", extras: [] });
}

export function map(name: string, value = "1") {
  return { metadata: { name, namespace: "default", managedFields: [{}] }, data: { value } };
}
