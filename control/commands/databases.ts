/** GeoIP databases: fetched at the start where the flags say from where, and their folder watched. */

import { statSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "../model/finding.ts";
import type { ObjectRef } from "../model/ids.ts";
import type { Options } from "../options/flags.ts";
import type { ConfSurroundings } from "../plan/conf.ts";
import type { Board } from "../report/board.ts";
import { watchFolder } from "../run/folder-watch.ts";
import { downloadDatabases } from "../run/geoip-download.ts";
import type { Layout } from "../run/layout.ts";
import type { Logger } from "../run/logger.ts";

/** The second one stands in where the root file system is read-only. */
function foldersOf(options: Options, layout: Layout): readonly string[] {
  return [options.geoipDir, layout.geoipDir];
}

function editionsOf(options: Options): readonly string[] {
  return options.maxmindEditionIds.split(",").filter((edition) => edition !== "");
}

/** The newest file of each edition. */
export function geoFiles(options: Options, layout: Layout): ReturnType<ConfSurroundings["geoip"]> {
  const editions = editionsOf(options);
  const files = editions.flatMap((edition) => {
    const found = foldersOf(options, layout).flatMap((folder) => {
      const path = join(folder, `${edition}.mmdb`);
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat === undefined ? [] : [{ path, size: stat.size, time: stat.mtimeMs }];
    });
    const newest = found.sort((a, b) => b.time - a.time)[0];
    return newest === undefined ? [] : [{ edition, path: newest.path, stamp: `${newest.size}-${Math.trunc(newest.time)}` }];
  });
  return { folder: options.geoipDir, editions, files };
}

/** Returns what ends it. */
export function openDatabases(of: {
  readonly options: Options;
  readonly layout: Layout;
  /** What findings are about. */
  readonly configMap: ObjectRef;
  readonly board: Board;
  readonly logger: Logger;
  /** Databases came, went or are others now. */
  readonly changed: () => void;
}): () => void {
  const { options, layout, logger, changed } = of;
  const end = watchFolder(options.geoipDir, logger, changed);
  const abort = new AbortController();
  if (options.maxmindMirror !== "" || options.maxmindLicenseKey !== "") {
    const failed: Finding[] = [];
    void downloadDatabases({
      mirror: options.maxmindMirror,
      licenseKey: options.maxmindLicenseKey,
      editions: editionsOf(options),
      tries: options.maxmindRetriesCount,
      pause: options.maxmindRetriesTimeout,
      folders: foldersOf(options, layout),
      signal: abort.signal,
      onDone: (edition, problem) => {
        if (problem === undefined) {
          logger.info("GeoIP database fetched", { edition });
          changed();
          return;
        }
        const at = `--maxmind-${options.maxmindMirror === "" ? "license-key" : "mirror"}`;
        failed.push({ code: "download-failed", about: of.configMap, at, text: `${edition} cannot be fetched: ${problem}` });
        of.board.set("databases", [...failed]);
      },
    });
  }
  return () => {
    end();
    abort.abort();
  };
}
