/** Whether this nginx can look up endpoints of TCP and UDP services for each connection, or must reload for them. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isTaken } from "../apply/stream-ports.ts";
import type { Options } from "../options/flags.ts";
import type { StreamScript } from "../plan/conf-view.ts";
import type { Layout } from "../run/layout.ts";
import type { Logger } from "../run/logger.ts";
import type { NginxInstall } from "../run/nginx-install.ts";

interface Machine {
  readonly options: Options;
  readonly layout: Layout;
  readonly install: NginxInstall;
  /** Folder of templates and scripts. */
  readonly shipped: string;
  /** An nginx of ours runs already: a port in use is probably its own. */
  readonly running: boolean;
  readonly logger: Logger;
}

/** Undefined: it cannot. The log says so once where there may be such services. */
export async function streamScript(machine: Machine): Promise<StreamScript | undefined> {
  const { options, layout, shipped, logger } = machine;
  const host = loopbackOf(layout);
  const obstacle = await obstacleOf(machine, host);
  if (options.tcpServicesConfigmap !== "" || options.udpServicesConfigmap !== "") {
    if (obstacle === undefined) logger.info("endpoints of TCP and UDP services change without a reload");
    else logger.warning("each change of a TCP or UDP service's endpoints reloads nginx", { reason: obstacle });
  }
  if (obstacle !== undefined) return undefined;
  return { file: join(shipped, "nginx/njs/endpoints.js"), folder: layout.streamsDir, address: `${host}:${options.streamPort}` };
}

/** An address of the loopback for this nginx alone: another one on the machine must not answer its questions. */
function loopbackOf({ fakeKey }: Layout): string {
  const [a = 0, b = 0, c = 0] = createHash("sha256").update(readFileSync(fakeKey)).digest().subarray(-3);
  return `127.${64 + (a % 64)}.${b}.${1 + (c % 254)}`;
}

async function obstacleOf({ options, install, running }: Machine, host: string): Promise<string | undefined> {
  if (install.optional.ngx_stream_js_module === undefined) return "nginx has no ngx_stream_js_module (Debian: libnginx-mod-stream-js)";
  const port = options.streamPort;
  const taken = !running && (await isTaken({ protocol: "UDP", port }, host));
  return taken ? `--stream-port: UDP port ${port} of ${host} is in use` : undefined;
}
