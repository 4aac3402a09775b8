// Where a case's objects live and the controller that follows them. One world a lane.
import type { KubeObject } from "../../kit/fixtures/objects";
import type { ProxyAddress } from "./client/client";

/** The controller did not start, ended, or did not take up the objects in time. */
export class WorldError extends Error {}

export interface World {
  /** Flags for the controller; another set than the last one makes it start anew at the next `put`. */
  useFlags(flags: readonly string[]): Promise<void>;
  /**
   * Makes these the only objects and waits until the proxy serves them.
   * `fresh`: what is not part of the fixtures counts as created now, even if an equal object was there.
   * Throws WorldError.
   */
  put(objects: readonly KubeObject[], fresh: boolean): Promise<void>;
  readonly proxy: ProxyAddress;
  /** The last words of a controller that ended by itself; undefined while it runs. */
  obituary(): string | undefined;
  readonly accessLog: string;
  /** nginx.conf as it is in force. */
  readonly confFile: string;
  /** Ends the controller; the next `put` starts another. */
  stop(): Promise<void>;
}
