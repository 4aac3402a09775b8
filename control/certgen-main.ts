/** kube-webhook-certgen: argv → command. Words go to stdout, one line each. */

import { certgenUsage, parseCertgen } from "./certgen/arguments.ts";
import { createCertificate, patchConfigurations } from "./certgen/certgen.ts";
import { parseDuration } from "./options/flag-value.ts";
import { connectApiServer } from "./source/api-server.ts";
import { loadKubeConfig } from "./source/kube-config.ts";
import { version } from "./version.ts";

let format = "json";

function say(level: string, msg: string, fields: Readonly<Record<string, string>> = {}): void {
  const time = new Date().toISOString();
  if (format === "json") console.log(JSON.stringify({ time, level, msg, ...fields }));
  else console.log([time, level, msg, ...Object.entries(fields).map(([name, value]) => `${name}=${value}`)].join(" "));
}

async function main(): Promise<number> {
  const args = parseCertgen(process.argv.slice(2), parseDuration);
  format = args.logFormat;
  if (args.command === "help") {
    console.log(certgenUsage);
    return 1;
  }
  if (args.command === "version") {
    console.log(`${version}\nnode ${process.version}`);
    return 0;
  }
  const api = connectApiServer(loadKubeConfig({ kubeconfig: args.kubeconfig, apiserverHost: "", certificateAuthority: "" }));
  const tell = (message: string, fields?: Readonly<Record<string, string>>) => say("INFO", message, fields);
  if (args.command === "create") await createCertificate(api, args, tell);
  else await patchConfigurations(api, args, tell);
  api.close();
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  say("FATAL", (error as Error).message);
  process.exitCode = 1;
}
