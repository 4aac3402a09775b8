/** Numbers of nginx.conf that follow from settings and machine: files, connections, dictionaries. */

import { dictionaries } from "../../lua-src/wire.ts";
import type { Settings } from "../catalog/settings.ts";
import type { Directive } from "./conf-view.ts";

/** Some machines allow a thousand million open files; nginx sets memory aside for each connection that it may have. */
const mostConnections = 262_144;

/** `hard` is the hard limit of open files of this process. */
export function workerFiles(settings: Settings, hard: number): number {
  const wanted = settings["max-worker-open-files"];
  return wanted > 0 ? wanted : Math.max(1024, Math.min(hard, 2 ** 30) - 1024);
}

export function workerLimits(settings: Settings, hard: number): { readonly main: Directive; readonly events: Directive } {
  const files = workerFiles(settings, hard);
  const connections = settings["max-worker-connections"] || Math.min(mostConnections, Math.trunc((files * 3) / 4));
  return {
    main: { name: "worker_rlimit_nofile", args: [files] },
    events: { name: "worker_connections", args: [connections] },
  };
}

/** Bytes by name; those of lua-shared-dicts over our own. */
export function dictionarySizes(settings: Settings): Readonly<Record<string, number>> {
  return { ...dictionaries, ...settings["lua-shared-dicts"] };
}

/** Of /configuration: a document as large as the largest dictionary that holds it. */
export function configurationBodyLimit(sizes: Readonly<Record<string, number>>): number {
  return Math.max(sizes.configuration_data ?? 0, sizes.certificate_data ?? 0) + 1024 * 1024;
}
