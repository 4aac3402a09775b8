/** Flags → the admission webhook, joined to the objects and the loop. */

import { Admitter } from "../admission/admit.ts";
import { AdmissionCounts } from "../admission/counts.ts";
import { type AdmissionServer, startAdmission } from "../admission/server.ts";
import type { Trial } from "../apply/trial.ts";
import type { BuildOptions } from "../build/build.ts";
import type { Loop } from "../loop.ts";
import type { Objects } from "../objects/objects.ts";
import type { Options } from "../options/flags.ts";
import type { Logger } from "../run/logger.ts";

export interface Admission extends AdmissionServer {
  readonly counts: AdmissionCounts;
}

/** Undefined without --validating-webhook. Rejects with a sentence for the user. */
export async function openAdmission(of: {
  readonly options: Options;
  readonly objects: Objects;
  readonly loop: Loop;
  readonly trial: Trial;
  readonly buildOptions: () => BuildOptions;
  readonly logger: Logger;
}): Promise<Admission | undefined> {
  const { options, objects, loop, trial, buildOptions, logger } = of;
  if (options.validatingWebhook === "") return undefined;
  const { validatingWebhookCertificate: certificateFile, validatingWebhookKey: keyFile } = options;
  if (certificateFile === "" || keyFile === "") {
    throw new Error("flag --validating-webhook needs --validating-webhook-certificate and --validating-webhook-key");
  }
  const counts = new AdmissionCounts();
  const admitter = new Admitter({
    context: () => ({ objects, lastGood: loop.lastGood, options: buildOptions() }),
    ask: (parts) => trial.of(parts),
    trialDir: trial.folder,
    logger,
  });
  const server = await startAdmission({
    address: options.validatingWebhook,
    certificateFile,
    keyFile,
    check: (ingress) => admitter.verdictOn(ingress),
    ready: loop.ready,
    counts,
    logger,
  });
  return { ...server, counts };
}
