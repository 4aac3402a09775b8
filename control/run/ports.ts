/** Checks before anything starts that every port can be had, so that the error names the flag and not a line of nginx.conf. */

import { createServer } from "node:net";

export interface WantedPort {
  /** Without dashes, e.g. "http-port". */
  readonly flag: string;
  /** Empty: all addresses. */
  readonly host: string;
  readonly port: number;
}

/** One sentence per port that cannot be had; empty: all is well. */
export async function portProblems(wanted: readonly WantedPort[]): Promise<string[]> {
  const problems: string[] = [];
  const flags = new Map<number, string>();
  for (const { flag, host, port } of wanted) {
    const other = flags.get(port);
    if (other !== undefined) {
      problems.push(`flags --${other} and --${flag} both name port ${port}`);
      continue;
    }
    flags.set(port, flag);
    const problem = await bindProblem(host, port);
    if (problem !== undefined) problems.push(`flag --${flag}: ${problem}`);
  }
  return problems;
}

function bindProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(`port ${port} is already in use`);
      else if (error.code === "EACCES") resolve(`port ${port} needs more privileges (CAP_NET_BIND_SERVICE)`);
      else resolve(`cannot listen on ${host === "" ? "" : `${host} `}port ${port}: ${error.message}`);
    });
    server.listen({ port, exclusive: true, ...(host === "" ? {} : { host }) }, () => server.close(() => resolve(undefined)));
  });
}
