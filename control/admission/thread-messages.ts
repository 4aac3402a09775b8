/** What the controller and its admission thread tell each other; all of it survives structured cloning. */

import type { TrialAnswer } from "../apply/trial.ts";
import type { BuildOptions } from "../build/build.ts";
import type { ConfParts } from "../plan/plan.ts";
import type { Ingress } from "../source/kinds.ts";
import type { KindName, SourceEvent } from "../source/source.ts";
import type { CheckedReview } from "./counts.ts";

export interface ThreadStart {
  readonly address: string;
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly verbosity: number;
  readonly trialDir: string;
  readonly build: Omit<BuildOptions, "now" | "fakeCertificate">;
}

export type ToThread =
  | { readonly kind: "change"; readonly events: readonly SourceEvent[] }
  | { readonly kind: "readable"; readonly of: KindName; readonly readable: boolean }
  | { readonly kind: "synced" }
  /** Versions in force of Ingresses whose newest one is refused, by refKey. */
  | { readonly kind: "lastGood"; readonly versions: ReadonlyMap<string, Ingress> }
  | { readonly kind: "answer"; readonly id: number; readonly answer: TrialAnswer }
  | { readonly kind: "stop" };

export type FromThread =
  | { readonly kind: "listens" }
  /** It cannot start, with a sentence for the user. */
  | { readonly kind: "cannot"; readonly why: string }
  | { readonly kind: "ask"; readonly id: number; readonly parts: ConfParts; readonly expressions: readonly string[] }
  | { readonly kind: "checked"; readonly review: CheckedReview; readonly seconds: number };
