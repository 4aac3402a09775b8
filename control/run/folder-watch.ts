/** Tells that something in a folder changed; once for changes that come together. */

import { type FSWatcher, watch } from "node:fs";
import type { Logger } from "./logger.ts";

const quiet = 200;

/** A folder that is not there, or cannot be watched, never changes. Returns what ends the watch. */
export function watchFolder(folder: string, logger: Logger, changed: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(folder, { persistent: false }, () => {
      clearTimeout(timer);
      timer = setTimeout(changed, quiet);
      timer.unref();
    });
    watcher.on("error", (error) => logger.warning("folder is no longer watched", { folder, error: error.message }));
  } catch {
    logger.info("folder is not watched: it is not there", { folder });
  }
  return () => {
    clearTimeout(timer);
    watcher?.close();
  };
}
