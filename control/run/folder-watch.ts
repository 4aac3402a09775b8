/** Tells that something in a folder changed, or that the folder came to be; once for changes that come together. */

import { existsSync, type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";
import type { Logger } from "./logger.ts";

const quiet = 200;

/** While the folder is not there, the nearest one above it is watched for its coming. Returns what ends the watch. */
export function watchFolder(folder: string, logger: Logger, changed: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  let ended = false;

  function tell(): void {
    clearTimeout(timer);
    timer = setTimeout(changed, quiet);
    timer.unref();
  }

  function follow(): void {
    watcher?.close();
    if (ended) return;
    const place = nearest(folder);
    try {
      watcher = watch(place, { persistent: false }, () => {
        const now = nearest(folder);
        if (place === folder || now === folder) tell();
        if (now !== place) follow();
      });
    } catch (error) {
      logger.warning("folder is not watched", { folder, error: (error as Error).message });
      return;
    }
    watcher.on("error", (error) => logger.warning("folder is no longer watched", { folder, error: error.message }));
    // it may have come between the look and the watch
    if (nearest(folder) !== place) {
      tell();
      follow();
    }
  }

  follow();
  return () => {
    ended = true;
    clearTimeout(timer);
    watcher?.close();
  };
}

function nearest(folder: string): string {
  let place = folder;
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  return place;
}
