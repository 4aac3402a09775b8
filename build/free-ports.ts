import { createServer } from "node:net";

// Below the range that outgoing connections take theirs from (32768 up), and above well-known servers.
const lowest = 11_000;
const highest = 31_000;

/** TCP ports that nobody listens on at this moment, all different; an address limits the question to it. */
export async function freePorts(count: number, address?: string): Promise<readonly number[]> {
  const found = new Set<number>();
  for (let attempt = 0; found.size < count; attempt++) {
    if (attempt > 1000) throw new Error(`found only ${found.size} of ${count} free ports`);
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (!found.has(port) && (await isFree(port, address))) found.add(port);
  }
  return [...found];
}

function isFree(port: number, address: string | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: address, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
