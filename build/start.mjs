// npm start: installs what is missing, builds, and runs the controller on examples/ until Ctrl-C.
// usage: node build/start.mjs [--http-port=N] [--https-port=N] [--healthz-port=N]
import { build } from "./build.mjs";
import { install, root } from "./install.mjs";
import { command, StepFailed } from "./steps.mjs";

await command(async () => {
  console.log("Sluice: preparing");
  const problems = await install("run");
  if (problems.length > 0) {
    for (const problem of problems) console.error(`  could not: ${problem}`);
    throw new StepFailed("install");
  }
  await build();
  process.argv.splice(1, 1, `${root}/build/run.mjs`, `${root}/build/demo.ts`);
  await import("./run.mjs");
});
