import { resolve } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    environment: "node",
    // As build/run.mjs defines it for the programs it bundles.
    env: { SLUICE_ROOT: resolve(import.meta.dirname) },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
