// Runs a TypeScript file: bundles it to .cache/run/NAME.mjs (packages stay external) and imports it.
// usage: node build/run.mjs FILE.ts [args…]
import { mkdirSync, rmSync } from "node:fs";
import { basename, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = resolve(fileURLToPath(import.meta.url), "../..");
const file = process.argv[2];
if (file === undefined) {
  console.error("usage: node build/run.mjs FILE.ts [args…]");
  process.exit(2);
}
const dir = resolve(root, ".cache/run");
mkdirSync(dir, { recursive: true });
const out = resolve(dir, `${basename(file, ".ts")}-${process.pid}.mjs`);
await build({
  entryPoints: [resolve(file)],
  outfile: out,
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: "inline",
  logLevel: "warning",
  define: { "process.env.SLUICE_ROOT": JSON.stringify(root) },
});
process.on("exit", () => rmSync(out, { force: true }));
process.argv.splice(1, 2, out);
await import(pathToFileURL(out).href);
