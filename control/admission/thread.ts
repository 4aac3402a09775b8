/**
 * The admission webhook in a thread of its own: a replica of the objects, the checks and the HTTPS server. Builds of the
 * whole cluster do not hold it up, nor whoever floods it the controller.
 */

import type { MessagePort } from "node:worker_threads";
import type { TrialAnswer } from "../apply/trial.ts";
import type { BuildOptions } from "../build/build.ts";
import { Private } from "../model/certificate.ts";
import { Objects } from "../objects/objects.ts";
import { createLogger } from "../run/logger.ts";
import type { Ingress } from "../source/kinds.ts";
import { Admitter, type AskNginx } from "./admit.ts";
import { type AdmissionServer, startAdmission } from "./server.ts";
import type { FromThread, ThreadStart, ToThread } from "./thread-messages.ts";

/** Only whether there is a certificate matters to the checks. */
const noCertificate = {
  id: "00000000-0000-0000-0000-000000000000",
  chain: "",
  key: new Private(""),
  names: [],
  commonName: "",
  notAfter: Number.POSITIVE_INFINITY,
};

export async function runThread(port: MessagePort, start: ThreadStart): Promise<void> {
  const tell = (message: FromThread) => port.postMessage(message);
  const logger = createLogger(start.verbosity);
  const objects = new Objects();
  let lastGood: ReadonlyMap<string, Ingress> = new Map();
  let synced: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    synced = resolve;
  });
  const questions = new Questions(tell);
  const admitter = new Admitter({
    context: () => ({ objects, lastGood, options: { ...(start.build as BuildOptions), fakeCertificate: noCertificate, now: Date.now() } }),
    ask: questions.ask,
    trialDir: start.trialDir,
    logger: logger.named("admission"),
  });
  let server: AdmissionServer | undefined;
  port.on("message", (message: ToThread) => {
    if (message.kind === "change") objects.change(message.events);
    else if (message.kind === "readable") objects.setReadable(message.of, message.readable);
    else if (message.kind === "lastGood") lastGood = message.versions;
    else if (message.kind === "answer") questions.answered(message.id, message.answer);
    else if (message.kind === "synced") synced();
    else void server?.stop().then(() => port.close());
  });
  try {
    server = await startAdmission({
      ...start,
      check: (ingress) => admitter.verdictOn(ingress),
      ready,
      onChecked: (review, seconds) => tell({ kind: "checked", review, seconds }),
      logger,
    });
    tell({ kind: "listens" });
  } catch (error) {
    tell({ kind: "cannot", why: (error as Error).message });
    port.close();
  }
}

class Questions {
  readonly #tell: (message: FromThread) => void;
  readonly #open = new Map<number, (answer: TrialAnswer) => void>();
  #last = 0;

  constructor(tell: (message: FromThread) => void) {
    this.#tell = tell;
  }

  readonly ask: AskNginx = (parts, expressions) => {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve) => {
      this.#open.set(id, resolve);
      this.#tell({ kind: "ask", id, parts, expressions });
    });
  };

  answered(id: number, answer: TrialAnswer): void {
    this.#open.get(id)?.(answer);
    this.#open.delete(id);
  }
}
