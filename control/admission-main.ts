/** Entry of the admission thread; commands/admission.ts starts it. */

import { parentPort, workerData } from "node:worker_threads";
import { runThread } from "./admission/thread.ts";
import type { ThreadStart } from "./admission/thread-messages.ts";

if (parentPort === null) throw new Error("this file is run by nginx-ingress-controller");
await runThread(parentPort, workerData as ThreadStart);
