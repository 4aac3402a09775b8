/** Files for nginx: written whole, then renamed. */

import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FileText } from "../model/model.ts";

export function writeWhole(file: string, text: string | Buffer, mode = 0o600): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.new`;
  writeFileSync(draft, text, { mode });
  // whatever the umask
  chmodSync(draft, mode);
  renameSync(draft, file);
}

/** What nginx.conf names. A name stands for its content, so a file that is there is right. */
export function writeFiles(dir: string, files: ReadonlyMap<string, FileText>): void {
  for (const [name, { content, encoding }] of files) {
    if (!existsSync(join(dir, name))) writeWhole(join(dir, name), Buffer.from(content.reveal(), encoding ?? "utf8"));
  }
}

/** Removes what nginx.conf does not name: keys do not outlive their use. */
export function dropFiles(dir: string, files: ReadonlyMap<string, FileText>): void {
  for (const name of existsSync(dir) ? readdirSync(dir) : []) {
    if (!files.has(name)) rmSync(join(dir, name), { force: true });
  }
}
