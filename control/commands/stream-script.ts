/** Whether this nginx can look up endpoints of TCP and UDP services for each connection, or must reload for them. */

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
  const obstacle = await obstacleOf(machine);
  if (options.tcpServicesConfigmap !== "" || options.udpServicesConfigmap !== "") {
    if (obstacle === undefined) logger.info("endpoints of TCP and UDP services change without a reload");
    else logger.warning("each change of a TCP or UDP service's endpoints reloads nginx", { reason: obstacle });
  }
  if (obstacle !== undefined) return undefined;
  return { file: join(shipped, "nginx/njs/endpoints.js"), folder: layout.streamsDir, port: options.streamPort };
}

async function obstacleOf({ options, install, running }: Machine): Promise<string | undefined> {
  if (install.optional.ngx_stream_js_module === undefined) return "nginx has no ngx_stream_js_module (Debian: libnginx-mod-stream-js)";
  const port = options.streamPort;
  const taken = !running && (await isTaken({ protocol: "UDP", port }, "127.0.0.1"));
  return taken ? `--stream-port: UDP port ${port} of 127.0.0.1 is in use` : undefined;
}
