import { runDbg } from "./commands/dbg.ts";

// Not process.exit(): what is written to a pipe must get through first.
process.exitCode = await runDbg(process.argv.slice(2), (text) => void process.stdout.write(text));
