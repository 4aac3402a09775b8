/** What Apply is given and what it tells. */

import type { Finding } from "../model/finding.ts";
import type { ObjectRef } from "../model/ids.ts";
import type { ConfSurroundings } from "../plan/conf.ts";
import type { Logger } from "../run/logger.ts";
import type { RateLimit } from "../run/rate.ts";
import type { DataPlane } from "./dataplane.ts";
import type { Nginx } from "./nginx.ts";
import type { ReloadCounts } from "./reload-log.ts";
import type { StreamEndpoints } from "./stream-files.ts";

export interface ApplyOptions {
  readonly nginx: Nginx;
  readonly dataPlane: DataPlane;
  readonly confFile: string;
  readonly templateDir: string;
  /** For tests of what is not stored yet; private, and emptied by each. */
  readonly trialDir: string;
  readonly around: ConfSurroundings;
  /** Where the settings come from, for findings. */
  readonly configMap: ObjectRef;
  readonly logger: Logger;
  readonly streamEndpoints: StreamEndpoints;
  /** --sync-rate-limit. */
  readonly reloads: RateLimit;
  /** After each reload that was wanted, with what went wrong. */
  readonly onReload?: (problem: string | undefined) => void;
}

export interface Outcome {
  /** About what the data plane refused. */
  readonly findings: readonly Finding[];
  /** The plan needs a reload that may not be yet: to be applied again after that many milliseconds. */
  readonly waitMs?: number;
}

export interface ApplyState extends ReloadCounts {
  readonly version: number;
  readonly conf: string;
  readonly nginxPid: number;
}
