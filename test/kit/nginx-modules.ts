/** An nginx that lacks some of its modules. */

import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { findNginx } from "../../control/run/nginx-install.ts";

/** `body` gets a folder for --nginx-modules with all but those whose names contain `word`. */
export async function withModulesBut(word: string, body: (folder: string) => Promise<void>): Promise<void> {
  const modules = dirname(findNginx("", []).modules[0] as string);
  const without = mkdtempSync(join(tmpdir(), "sluice-modules-"));
  try {
    const folder = join(without, "lib/nginx/modules");
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(modules)) if (!name.includes(word)) symlinkSync(join(modules, name), join(folder, name));
    // Lua's libraries are looked for there
    symlinkSync(resolve(modules, "../../../share"), join(without, "share"));
    await body(folder);
  } finally {
    rmSync(without, { recursive: true });
  }
}
