/** Bundles control/ into one file a command, and puts the nginx templates and scripts beside them. */

import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { build, transformSync } from "esbuild";
import { bundleOptions } from "./bundle-options.ts";

const root = process.env.SLUICE_ROOT!;
const dist = resolve(root, "dist");

const commands = [
  { entry: "control/main.ts", name: "nginx-ingress-controller" },
  { entry: "control/admission-main.ts", name: "admission" },
  { entry: "control/dbg-main.ts", name: "dbg" },
  { entry: "control/wait-shutdown-main.ts", name: "wait-shutdown" },
  { entry: "control/certgen-main.ts", name: "kube-webhook-certgen" },
  { entry: "control/plugin-main.ts", name: "kubectl-ingress_nginx" },
] as const;

/** Written beside and renamed: a controller that starts meanwhile never reads half a file. */
async function bundle(entry: string, name: string): Promise<void> {
  const stage = resolve(dist, `.stage-${process.pid}`);
  await build({
    ...bundleOptions,
    entryPoints: [resolve(root, entry)],
    outfile: resolve(stage, `${name}.mjs`),
  });
  chmodSync(resolve(stage, `${name}.mjs`), 0o755);
  renameSync(resolve(stage, `${name}.mjs.map`), resolve(dist, `${name}.mjs.map`));
  renameSync(resolve(stage, `${name}.mjs`), resolve(dist, `${name}.mjs`));
  rmSync(stage, { recursive: true });
}

function copyTemplates(): void {
  const to = resolve(dist, "nginx");
  rmSync(to, { recursive: true, force: true });
  cpSync(resolve(root, "nginx"), to, { recursive: true, filter: (path) => !path.endsWith(".ts") });
  writeFileSync(resolve(to, "njs/endpoints.js"), scriptOf(readFileSync(resolve(root, "nginx/njs/endpoints.ts"), "utf8")));
}

/** njs knows its modules by bare names. */
function scriptOf(text: string): string {
  return transformSync(text, { loader: "ts", target: "es2015" }).code.replaceAll(/"node:(crypto|fs)"/g, '"$1"');
}

mkdirSync(dist, { recursive: true });
const absent = commands.filter((command) => !existsSync(resolve(root, command.entry)));
for (const { entry, name } of commands) {
  if (!absent.some((command) => command.name === name)) await bundle(entry, name);
}
copyTemplates();
if (absent.length > 0) {
  console.error(`missing: ${absent.map((command) => command.entry).join(", ")}`);
  process.exitCode = 1;
}
