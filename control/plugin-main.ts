import { runPlugin } from "./plugin/plugin.ts";

// Not process.exit(): what is written to a pipe must get through first.
process.exitCode = await runPlugin(process.argv.slice(2), (text) => void process.stdout.write(text));
