/** How control/ becomes one file a command. */
import type { BuildOptions } from "esbuild";

// CommonJS packages inside an ES module still call require() for Node's own modules.
const banner = [
  "#!/usr/bin/env node",
  'import { createRequire as __createRequire } from "node:module";',
  "const require = __createRequire(import.meta.url);",
].join("\n");

export const bundleOptions: BuildOptions = {
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  treeShaking: true,
  sourcemap: "linked",
  legalComments: "none",
  logLevel: "warning",
  banner: { js: banner },
  // ws asks for these two if they are installed, and works without.
  external: ["bufferutil", "utf-8-validate"],
};
