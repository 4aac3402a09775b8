/** argv → command. */

import { runController } from "./commands/controller.ts";
import { versionBlock } from "./commands/version.ts";
import { parseFlags, usage } from "./options/flags.ts";

const parsed = parseFlags(process.argv.slice(2));
if ("error" in parsed) {
  console.error(`${parsed.error}\nSee --help.`);
  process.exit(2);
}
const options = parsed.ok;
if (options.help) {
  console.log(usage());
} else if (options.version) {
  console.log(versionBlock(options.nginxBinary, options.nginxModules));
} else {
  process.on("unhandledRejection", (reason) => {
    console.error("unhandled:", reason);
  });
  try {
    process.exit(await runController(options));
  } catch (error) {
    console.error(`cannot start: ${(error as Error).message}`);
    process.exit(1);
  }
}
