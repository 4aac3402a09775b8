import { systemProcesses, waitShutdown } from "./commands/wait-shutdown.ts";

process.exitCode = await waitShutdown(systemProcesses, (text) => void process.stdout.write(`${text}\n`));
