// npm run image: installs what is missing, then builds the image; its name and size are the last line.
import { install, root } from "./install.mjs";
import { command } from "./steps.mjs";

await command(async () => {
  for (const problem of await install("image")) console.error(`  could not: ${problem}`);
  process.argv.splice(1, 1, `${root}/build/run.mjs`, `${root}/build/image.ts`);
  await import("./run.mjs");
});
