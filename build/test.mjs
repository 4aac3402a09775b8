// npm test: installs what is missing, then builds and runs every suite.
// usage: node build/test.mjs [--only=SUITE,…]
import { installDebian13 } from "./debian13.mjs";
import { install, root } from "./install.mjs";
import { command } from "./steps.mjs";

await command(async () => {
  console.log("Sluice: preparing");
  const problems = [...(await install("test")), ...(await install("image")), ...(await installDebian13(root))];
  for (const problem of problems) console.error(`  could not: ${problem}`);
  process.argv.splice(1, 1, `${root}/build/run.mjs`, `${root}/build/suites.ts`);
  await import("./run.mjs");
});
