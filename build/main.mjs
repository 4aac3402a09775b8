import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * True in the file that was given to node on the command line.
 * @param {string} url import.meta.url
 */
export function isMain(url) {
  return process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(url);
}
