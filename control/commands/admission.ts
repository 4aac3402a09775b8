/** Flags → the admission webhook, joined to the objects and the loop. */

import { checkIngress } from "../admission/check.ts";
import { AdmissionCounts } from "../admission/counts.ts";
import { type AdmissionServer, startAdmission } from "../admission/server.ts";
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
  readonly buildOptions: () => BuildOptions;
  readonly logger: Logger;
}): Promise<Admission | undefined> {
  const { options, objects, loop, buildOptions, logger } = of;
  if (options.validatingWebhook === "") return undefined;
  const { validatingWebhookCertificate: certificateFile, validatingWebhookKey: keyFile } = options;
  if (certificateFile === "" || keyFile === "") {
    throw new Error("flag --validating-webhook needs --validating-webhook-certificate and --validating-webhook-key");
  }
  const counts = new AdmissionCounts();
  const server = await startAdmission({
    address: options.validatingWebhook,
    certificateFile,
    keyFile,
    check: (ingress) => checkIngress(ingress, { objects, lastGood: loop.lastGood, options: buildOptions() }),
    ready: loop.ready,
    counts,
    logger,
  });
  return { ...server, counts };
}
