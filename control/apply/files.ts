/** Files for nginx: written whole, then renamed. */

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Profile } from "../plan/conf-view.ts";
import { filesOf } from "../plan/profiles.ts";

export function writeWhole(file: string, text: string, mode = 0o600): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.new`;
  writeFileSync(draft, text, { mode });
  renameSync(draft, file);
}

/** What the profiles read. A name stands for its content, so a file that is there is right. */
export function writeFiles(dir: string, profiles: Iterable<Profile>): void {
  for (const [name, { content }] of filesOf(profiles)) {
    if (!existsSync(join(dir, name))) writeWhole(join(dir, name), content.reveal());
  }
}

/** Removes what none of the profiles reads: keys do not outlive their use. */
export function dropFiles(dir: string, profiles: Iterable<Profile>): void {
  const used = filesOf(profiles);
  for (const name of existsSync(dir) ? readdirSync(dir) : []) {
    if (!used.has(name)) rmSync(join(dir, name), { force: true });
  }
}
